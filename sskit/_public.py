"""Base of public classes: the names under which they are pickled and documented."""

import inspect
import os
import re
import sys
import warnings
from functools import cache
from types import FunctionType

from sskit._packing import packed, unpacked

DISTRIBUTION = "sskit-learn"
# Of the other distribution that has a package of this name, in the folder of all packages.
_OTHER = re.compile(r"sskit-[^-]+\.(?:dist|egg)-info")


def check_alone(package):
    """Warn where the other distribution with a package "sskit" is installed in the same folder.

    Parameters
    ----------
    package : str
        The folder of this package.

    Raises
    ------
    ImportError
        If it has overwritten a file of this one.
    """
    try:
        names = os.listdir(os.path.dirname(package))
    except OSError:  # in an archive
        return
    other = next(filter(_OTHER.fullmatch, names), None)
    if other is None:
        return
    message = (
        f"the distribution sskit {other.split('-')[1].rpartition('.')[0]} is another one than "
        f"{DISTRIBUTION}, and both install a package called sskit into {os.path.dirname(package)}: "
        f"uninstall both (pip uninstall sskit {DISTRIBUTION}) and install the one that you want "
        f"(pip install {DISTRIBUTION})"
    )
    with open(os.path.join(package, "__init__.py"), encoding="utf-8") as file:
        ours = "sskit._public" in file.read()
    if not ours:
        raise ImportError(message)
    warnings.warn(message, stacklevel=2)


check_alone(os.path.dirname(__file__))


@cache
def documentation():
    """Return the address of the documentation, which ends with a slash; "" if there is none yet.

    It is that of the metadata, which have it from pyproject.toml.
    """
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        lines = metadata(DISTRIBUTION).get_all("Project-URL") or ()
    except PackageNotFoundError:  # a copy of the sources
        return ""
    named = dict(line.split(", ", 1) for line in lines)
    return named.get("Documentation", "")


def export_from(module, *others):
    """Set the module of classes and functions to the package that exports them in its ``__all__``.

    Files of saved models, pickles too, name the types in them, and pages are called by them. Files
    stay readable when a class is moved to another module, as long as its package exports it.

    Parameters
    ----------
    module : str
        Name of the package.
    *others : type
        Further types that occur in files.
    """
    package = sys.modules[module]
    named = (getattr(package, name, None) for name in getattr(package, "__all__", ()))
    for item in (*named, *others):
        if isinstance(item, (type, FunctionType)):
            item.__module__ = module


class PublicMixin:
    """Base of classes with parameters: their HTML has links and the gap, their files a version.

    To be inherited from before ``BaseEstimator``. What users derive from a class has no page,
    and no link.
    """

    _doc_link_module = "sskit"

    @property
    def _doc_link_template(self):
        return documentation() + "generated/{estimator_module}.{estimator_name}.html"

    def _get_doc_link(self):
        """Return the address of the page of a class; "" where pages have none."""
        return super()._get_doc_link() if documentation() else ""

    @classmethod
    def _get_param_names(cls):
        """Return the names of the parameters, sorted, as scikit-learn reads them from a class."""
        if "_param_names" not in vars(cls):
            cls._param_names = tuple(super()._get_param_names())
        return [*cls._param_names]

    def _repr_html_inner(self):
        """Return the HTML of scikit-learn, and below it a paragraph about the certificate."""
        return super()._repr_html_inner() + self._gap_in_words()

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        return {k: v + self._gap_in_words() * (k == "text/html") for k, v in bundle.items()}

    def _gap_in_words(self):
        """Return a paragraph of HTML about the duality gap of a fit; nothing if there is none."""
        gap, primal = (vars(self).get(name) for name in ("dual_gap_", "primal_objective_"))
        if gap is None or primal is None:
            return ""
        proven = "Certified" if self.certified_ else "Not certified"
        fraction = f", {gap / primal:.2%} of the objective" if primal > 0 else ""
        return f"<p>{proven}: duality gap {gap:.3g}{fraction}, after {self.n_iter_} passes.</p>"

    def __getstate__(self):
        """Pack large tables and add the version of the package, for the reader of a file."""
        version = {"_sskit_version": sys.modules["sskit"].__version__}
        return packed(super().__getstate__()) | version

    def __copy__(self):
        """Return a shallow copy, without the detour by which files are made."""
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __setstate__(self, state):
        """Warn about an object of a later minor version, which may have further attributes."""
        here = sys.modules["sskit"].__version__
        written = state.get("_sskit_version", here)
        if [*map(int, re.findall(r"\d+", written)[:2])] > [*map(int, re.findall(r"\d+", here)[:2])]:
            warnings.warn(
                f"{type(self).__name__} was saved by sskit {written}, which is later than this "
                f"version, {here}: its answers may differ",
                stacklevel=2,
            )
        state = unpacked({k: v for k, v in state.items() if k != "_sskit_version"})
        super().__setstate__(state)
        # parameters that are newer than the file
        if hasattr(self, "_parameter_constraints"):
            for name, parameter in inspect.signature(type(self).__init__).parameters.items():
                if name != "self" and parameter.default is not parameter.empty:
                    vars(self).setdefault(name, parameter.default)
        self._make_ready()

    def _make_ready(self):
        """Compute what every request reads; called after a fit and after loading.

        Otherwise the first request would do so, and take longer than others.
        """
