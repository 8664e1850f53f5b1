"""The compiled part, which is optional; all else about the package is in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# A product and a sum may be one instruction, and arithmetic errors need not be reported one by one.
FAST = ["-O3", "-g0", "-std=c11", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]


class BuildFast(build_ext):
    """Let the compiler vectorize loops, in its own words."""

    def build_extensions(self) -> None:
        for extension in self.extensions:
            is_microsoft = self.compiler.compiler_type == "msvc"
            extension.extra_compile_args = ["/O2"] if is_microsoft else FAST
            # Where it cannot be compiled, the package runs on NumPy alone.
            extension.optional = True
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildFast},
    ext_modules=cythonize(
        [Extension("ritz._compiled", ["src/ritz/_compiled.pyx"])],
        build_dir="build",
    ),
)
