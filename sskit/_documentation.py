"""Where the documentation of a public object stands."""

import sys

# The same as the project's "Documentation" address in pyproject.toml, without a slash at its end.
# The build of the documentation puts a relative one in its place.
ADDRESS = "https://sskit-learn.readthedocs.io/en/stable"


def public_name(cls):
    """Return the dotted name under which the reference lists a class.

    Parameters
    ----------
    cls : type
        A class of the package, wherever it is defined.

    Returns
    -------
    name : str
        "sskit.SequenceTagger" for what the package itself exports, else the name in the room
        that exports it, "sskit.solvers.BCFW"; "" if no page is about the class.
    """
    package, *rest = cls.__module__.split(".")
    for module in (package, f"{package}.{rest[0]}" if rest else package):
        exports = sys.modules.get(module)
        if cls.__name__ in getattr(exports, "__all__", ()) and (
            getattr(exports, cls.__name__) is cls
        ):
            return f"{module}.{cls.__name__}"
    return ""


class DocumentedMixin:
    """Pictures of an object link to its page, and those of its parameters explain them.

    To be inherited from before ``BaseEstimator``. What users derive from a class has no page,
    and no link.
    """

    _doc_link_module = "sskit"

    def _get_doc_link(self):
        """Return the address of the page about the class, or "" if there is none."""
        cls = type(self)
        name = public_name(cls) if cls.__module__.split(".")[0] == self._doc_link_module else ""
        return f"{ADDRESS}/generated/{name}.html" if name else ""
