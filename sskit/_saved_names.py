"""What lets saved models outlive the version that saved them: names, and parameters."""

import inspect
from functools import lru_cache


def export_from(module, *exported):
    """Let classes and functions be known by the package that exports them.

    Files of saved models, pickles too, name the types in them. They stay readable when a class
    moves to another file, as long as its package exports it.

    Parameters
    ----------
    module : str
        Name of the package.
    *exported : type or callable
        What it exports.
    """
    for item in exported:
        item.__module__ = module


@lru_cache(maxsize=256)
def parameter_defaults(cls):
    """Return the parameters of a class that have defaults, and these, by name.

    A signature takes as long to read as a small fit; it is read once.

    Parameters
    ----------
    cls : type
        The class.

    Returns
    -------
    defaults : dict
        Not to be changed.
    """
    parameters = inspect.signature(cls.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


class LoadableMixin:
    """Objects of files, and pickles, of earlier versions have all parameters.

    To be inherited from before ``BaseEstimator``. Those that a version did not have yet get their
    defaults.
    """

    def __setstate__(self, state):
        """Take over the attributes that a file holds."""
        super().__setstate__(parameter_defaults(type(self)) | state)

    @classmethod
    def _get_param_names(cls):
        """Return the names of the parameters, sorted, as scikit-learn reads them from a class."""
        if "_param_names" not in vars(cls):
            cls._param_names = tuple(super()._get_param_names())
        return [*cls._param_names]
