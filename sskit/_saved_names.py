"""What lets saved models outlive the version that saved them: names, and parameters."""

import inspect


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


class LoadableMixin:
    """Objects of files, and pickles, of earlier versions have all parameters.

    To be inherited from before ``BaseEstimator``. Those that a version did not have yet get their
    defaults.
    """

    def __setstate__(self, state):
        """Take over the attributes that a file holds."""
        parameters = inspect.signature(type(self).__init__).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        super().__setstate__(defaults | state)
