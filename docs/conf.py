"""How the site is built. `make docs` builds it, runs every example and checks every link."""

import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

import ritz

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
mpl.use("Agg")
# A warning of ours belongs on the page; those of other libraries do not.
warnings.filterwarnings("ignore", category=DeprecationWarning)
warnings.filterwarnings("ignore", category=FutureWarning)

project = "ritz"
author = "The ritz developers"
project_copyright = "The ritz developers"
version = release = ritz.__version__

extensions = [
    "mathml",
    "plain_docstrings",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip"]
templates_path = ["_templates"]
highlight_language = "none"
nitpicky = True

# Pages in Markdown. Code cells run at each build; an error in one is a warning, which fails it.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_merge_streams = True

# The reference. Types are in the descriptions of parameters.
default_role = "py:obj"
# Code between single backticks that names nothing public is shown as code.
nitpick_ignore_regex = [("py:obj", ".*")]
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    # The page of times loads scripts from elsewhere.
    "write_computation_times": False,
    "reset_modules": ("look.reset",),
}

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_title = "ritz"
html_theme_options: dict[str, Any] = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages that stand alone need no list of their neighbors.
html_sidebars: dict[str, list[str]] = {"index": [], "start": [], "choose": []}


def skip(app: Any, kind: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator."""
    return True if name.startswith("set_") and name.endswith(("_request", "_output")) else None


def setup(app: Any) -> None:
    """Register the above."""
    app.connect("autodoc-skip-member", skip)
