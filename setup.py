"""The part that is written in C; all else about the package is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup

FOLDER = Path("src/ritz/native")
# Products and sums may be one instruction, and errors of arithmetic need not be told one by one.
FAST = ["-O3", "-g0", "-std=c11", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]

setup(
    ext_modules=[
        Extension(
            "ritz.native._c",
            sources=[str(path) for path in sorted(FOLDER.glob("*.c"))],
            depends=[str(path) for path in sorted(FOLDER.glob("*.h"))],
            # One file serves every Python from this one on.
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            extra_compile_args=["/O2"] if sys.platform == "win32" else FAST,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
