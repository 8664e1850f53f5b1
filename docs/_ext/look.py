"""How the pictures of the gallery look; each example starts from these settings."""

from typing import Any

import matplotlib as mpl


def reset(gallery_conf: dict[str, Any], name: str) -> None:
    mpl.rcdefaults()
    mpl.use("Agg")
    mpl.rcParams["figure.constrained_layout.use"] = True
