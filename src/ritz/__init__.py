"""The spectrum of an operator from samples, by the Galerkin method."""

import lazy_loader

from ritz.version import __version__ as __version__

# The public names are listed in __init__.pyi. Each is imported when it is first used, so that
# `ritz --help` is quick.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
