"""Base of public classes: the names under which they are pickled and documented."""

import sys
from types import FunctionType

# The same as the project's "Documentation" address in pyproject.toml, without a slash at its end.
ADDRESS = "https://sskit-learn.readthedocs.io/en/stable"


def export_from(module, *others):
    """Let classes and functions be known by the package that exports them in its ``__all__``.

    Files of saved models, pickles too, name the types in them, and pages are called by them. They
    stay readable when a class goes to another file, as long as its package exports it.

    Parameters
    ----------
    module : str
        Name of the package.
    *others : type
        What is in files too, though it is not imported.
    """
    package = sys.modules[module]
    named = (getattr(package, name, None) for name in getattr(package, "__all__", ()))
    for item in (*named, *others):
        if isinstance(item, (type, FunctionType)):
            item.__module__ = module


class PublicMixin:
    """Base of what has parameters: pictures of an object link to the page about its class.

    To be inherited from before ``BaseEstimator``. What users derive from a class has no page,
    and no link.
    """

    _doc_link_module = "sskit"
    _doc_link_template = ADDRESS + "/generated/{estimator_module}.{estimator_name}.html"

    @classmethod
    def _get_param_names(cls):
        """Return the names of the parameters, sorted, as scikit-learn reads them from a class."""
        if "_param_names" not in vars(cls):
            cls._param_names = tuple(super()._get_param_names())
        return [*cls._param_names]
