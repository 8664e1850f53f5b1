"""The part that is written in C; all else about the package is in pyproject.toml."""

import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDER = Path("src/ritz/native")
# Products and sums may be one instruction, and errors of arithmetic need not be told one by one.
FAST = ["-O3", "-g0", "-std=c11", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]
# One file serves every Python from this one on, but for those without a lock.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")


class BuildFast(build_ext):
    """Tell the compiler to make vector instructions, in its own words."""

    def build_extensions(self) -> None:
        for extension in self.extensions:
            microsoft = self.compiler.compiler_type == "msvc"
            extension.extra_compile_args = ["/O2"] if microsoft else FAST
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildFast},
    ext_modules=[
        Extension(
            "ritz.native._c",
            sources=[str(path) for path in sorted(FOLDER.glob("*.c"))],
            depends=["setup.py", *(str(path) for path in sorted(FOLDER.glob("*.h")))],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if LIMITED else [],
            py_limited_api=LIMITED,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
)
