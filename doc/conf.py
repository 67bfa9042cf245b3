"""Sphinx configuration. Building and reading the pages need no network."""

import os
import re
import sys
from pathlib import Path

import sskit
from sskit._public import ADDRESS, PublicMixin

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.append(str(Path(__file__).parent))  # of the extension "combinations"

# the pictures of estimators in the gallery link to the pages beside it
PublicMixin._doc_link_template = PublicMixin._doc_link_template.replace(ADDRESS, "..")

project = "sskit"
author = "sskit developers"
copyright = "2026, sskit developers"
version = release = sskit.__version__

extensions = [
    "combinations",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_parser",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # formulas are drawn by a MathJax that ships with the pages
]

root_doc = "index"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
source_suffix = {".rst": "restructuredtext"}

# names in single quotes of docstrings become links where they are names of the package
default_role = "py:obj"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(demo|_\w*)\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # their tables would be drawn by scripts from the network
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("sskit",),
    "backreferences_dir": "generated/backreferences",
}

html_theme = "pydata_sphinx_theme"
html_title = "sskit"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["sskit.css"]
html_js_files = ["wide-figures.js"]
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "contributing": []}


def unlink_foreign_labels(app, what, name, obj, options, lines):
    """Drop the links that methods inherited from scikit-learn make into its own guide."""
    if (getattr(obj, "__module__", None) or "").startswith("sskit"):
        return
    role = re.compile(r":(?:ref|term|doc):`([^`<]+?)(?:\s*<[^`>]*>)?`")
    lines[:] = role.sub(r"\1", "\n".join(lines)).split("\n")


def setup(app):
    """Register the hook above."""
    app.connect("autodoc-process-docstring", unlink_foreign_labels)
