"""Sphinx configuration. Building and reading the pages need no network.

With one there are links to the pages of other projects.
"""

import importlib.metadata
import inspect
import os
import re
import sys
from pathlib import Path

from sphinx.pycode import ModuleAnalyzer

import sskit
from sskit import _public

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.append(str(Path(__file__).parent))  # of the extension "combinations"
import gallery  # noqa: E402
import inventories  # noqa: E402

# the pictures of estimators in the gallery link to the pages two folders above
_public.documentation = lambda: "../../"

# what [project.urls] of pyproject.toml names, by label
URLS = dict(
    line.split(", ", 1)
    for line in importlib.metadata.metadata(_public.DISTRIBUTION).get_all("Project-URL") or ()
)
SOURCE = URLS.get("Source", "").rstrip("/")
PAGES = URLS.get("Documentation", "")
PACKAGE = Path(sskit.__file__).parent

project = "sskit"
author = "sskit developers"
copyright = "2026, sskit developers"
version = release = sskit.__version__

extensions = [
    "combinations",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.linkcode" if SOURCE else "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # formulas are drawn by a MathJax that ships with the pages
    *(["sphinxext.opengraph"] if PAGES else []),  # what a link in a message shows needs an address
]
ogp_site_url, ogp_social_cards = PAGES, {"enable": False}

root_doc = "index"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
source_suffix = {".rst": "restructuredtext"}

# names in single quotes of docstrings become links where they are names of the package
default_role = "py:obj"
intersphinx_mapping = inventories.fetch(Path(__file__).parent / "_build" / "inventories")
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
    "subsection_order": [f"../examples/{name}" for name in gallery.SECTIONS],
    "within_subsection_order": "gallery.PlaceInSection",
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
    "header_links_before_dropdown": 9,
    "icon_links": [{"name": "Source", "url": SOURCE, "icon": "fa-solid fa-code-branch"}]
    if SOURCE
    else [],
    "navbar_align": "left",
    "navbar_start": ["navbar-logo", "release"],
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
}
# pages without a list of their neighbours: tables take its room
WIDE = ("index", "install", "get_started", "contributing", "reference/what_works", "reference/api")
html_sidebars = {name: [] for name in (*WIDE, "reference/benchmarks*")}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
# what a block prints is not to be copied
copybutton_selector = "div.highlight-python pre, div.highlight-bash pre, div.doctest pre"


def find_module(app, module, name):
    """Return the module in which a class or function is written, not the one that exports it."""
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    items = [found, *(vars(found).values() if inspect.isclass(found) else ())]
    names = {getattr(found, "__qualname__", ""), name.partition(".")[0]}
    for item in items:
        item = inspect.unwrap(item.fget if isinstance(item, property) else item)
        if inspect.isfunction(item) and item.__qualname__.partition(".")[0] in names:
            path = Path(item.__code__.co_filename)
            if PACKAGE in path.parents:
                return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return None


def linkcode_resolve(domain, info):
    """Return the address of the source of a Python object, with its lines."""
    module = find_module(None, info["module"], info["fullname"]) if domain == "py" else None
    if module is None:  # compiled, or an attribute
        return None
    _, start, stop = ModuleAnalyzer.for_module(module).find_tags().get(info["fullname"], (0, 1, 1))
    path = module.replace(".", "/")
    return f"{SOURCE}/blob/v{release}/{path}.py#L{start}-L{stop}"


def unlink_foreign_labels(app, what, name, obj, options, lines):
    """Drop the links that methods inherited from scikit-learn make into its own guide."""
    if (getattr(obj, "__module__", None) or "").startswith("sskit"):
        return
    role = re.compile(r":(?:ref|term|doc):`([^`<]+?)(?:\s*<[^`>]*>)?`")
    lines[:] = role.sub(r"\1", "\n".join(lines)).split("\n")


def keep_names_our_own(app, env, node, contnode):
    """Let names in single quotes be no links to other projects: Python has `time` and `copy`."""
    return contnode if node["reftype"] == "obj" else None


def leave_out_compiled_modules(app, env):
    """Drop modules without Python source from the index of sources, where they have no page."""
    known = getattr(env, "_viewcode_modules", {})
    for name in [name for name, entry in known.items() if not entry]:
        del known[name]


def setup(app):
    """Register the hooks above."""
    app.connect("autodoc-process-docstring", unlink_foreign_labels)
    app.connect("missing-reference", keep_names_our_own, priority=400)  # before intersphinx
    if not SOURCE:
        app.connect("viewcode-follow-imported", find_module)
        app.connect("env-updated", leave_out_compiled_modules)
