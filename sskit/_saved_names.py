"""The names under which saved models know classes and functions of the package."""


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
