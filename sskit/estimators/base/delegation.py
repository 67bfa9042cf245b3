"""Methods that an estimator has if the one within it does."""

from sklearn.utils.metaestimators import available_if


def estimator_has(name):
    """Return a decorator of a method that is there if `estimator` has a method of a name.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    decorator : callable
        For methods.
    """
    return available_if(lambda self: hasattr(self.estimator, name))
