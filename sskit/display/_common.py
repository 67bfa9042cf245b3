"""What displays share: the estimator that they are about, axes, the truth beside predictions."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit._inside import unwrap


def fitted_with(estimator, attribute, noun, X=None):
    """Return the fitted estimator inside another one that has an attribute.

    Parameters
    ----------
    estimator : estimator
        Any.
    attribute : str
        Of a fitted estimator, or a method.
    noun : str
        What error messages call what is missing.
    X : object, default=None
        What the outer estimator is given.

    Returns
    -------
    inner : estimator
        The outermost one that has it.
    X : object
        What this one is given.

    Raises
    ------
    NotFittedError, TypeError
        If it is not fitted, or none has the attribute.
    """
    for inner, given in unwrap(estimator, X):
        if hasattr(inner, attribute):
            check_is_fitted(inner)
            return inner, given
    check_is_fitted(inner)
    raise TypeError(f"{type(inner).__name__} has no {noun}")


def row_of_axes(n, axes=None, size=(3.2, 3.0)):
    """Return a list of n axes side by side: those of the user, or in a new figure.

    Parameters
    ----------
    n : int
        Number of axes.
    axes : matplotlib Axes or sequence of them, default=None
        Those of the user.
    size : tuple of two floats, default=(3.2, 3.0)
        Width and height of one of the axes of a new figure, in inches.

    Returns
    -------
    axes : list of matplotlib Axes
        As many as n.

    Raises
    ------
    ValueError
        If the user gives another number of axes.
    """
    return list(grid_of_axes((1, n), axes, figsize=(n * size[0], size[1]))[0])


def grid_of_axes(shape, axes=None, **figure):
    """Return a table of axes: those of the user, row by row, or in a new figure.

    Parameters
    ----------
    shape : tuple of two int
        Numbers of rows and columns.
    axes : array-like of matplotlib Axes, default=None
        Those of the user.
    **figure : object
        Options of a new figure.

    Returns
    -------
    axes : ndarray of matplotlib Axes
        Of this shape.

    Raises
    ------
    ValueError
        If the user gives another number of axes.
    """
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(*shape, layout="constrained", squeeze=False, **figure)
    axes = np.asarray(axes, dtype=object)
    if axes.size != shape[0] * shape[1]:
        raise ValueError(
            f"axes must hold {shape[0] * shape[1]} axes, {shape[0]} rows of {shape[1]} panels, got "
            f"{axes.size}"
        )
    return axes.reshape(shape)


def check_panels(panels, available):
    """Return names of panels as a list.

    Parameters
    ----------
    panels : sequence of str or None
        What the user asks for; None means all.
    available : iterable of str
        All names.

    Returns
    -------
    panels : list of str
        At least one.

    Raises
    ------
    ValueError
        If there is none, or one that is unknown.
    """
    panels = list(available) if panels is None else list(panels)
    if not panels or not set(panels) <= set(available):
        names = ", ".join(map(repr, available))
        raise ValueError(f"panels must hold names of {names}, got {panels!r}")
    return panels


class TruthDisplay:
    """Base of displays of the truth and predictions side by side, a row for each sample."""

    def _compare(self, truth, measure):
        """Return what is measured of each panel beside the truth, by name; keep the truth."""
        if truth is not None and truth not in self.panels:
            raise ValueError(f"truth must be one of the panels {list(self.panels)}, got {truth!r}")
        self.truth = truth
        return {
            name: measure(self.panels[truth], found)
            for name, found in self.panels.items()
            if truth not in (None, name)
        }

    def _make_axes(self, n_rows, titles, axes, **figure):
        """Make axes without ticks, whose columns have titles."""
        self.axes_ = grid_of_axes((n_rows, len(titles)), axes, **figure)
        self.figure_ = self.axes_[0, 0].figure
        for ax, title in zip(self.axes_[0], titles, strict=True):
            ax.set_title(title)
        for ax in self.axes_.flat:
            ax.set(xticks=[], yticks=[])

    @staticmethod
    def _predictions(estimator, X):
        """Return the predictions of one estimator or several, by name, and what a model is given.

        Parameters
        ----------
        estimator : estimator, or dict of str to estimator
            Fitted.
        X : object
            What these are given.

        Returns
        -------
        predictions : dict of str to sequence
            By each.
        models : list of tuple (estimator, object)
            The estimator at the end of each, and what this is given.
        """
        estimators = estimator if isinstance(estimator, dict) else {"prediction": estimator}
        # not by the outer estimator, which keeps to itself what the inner one is given
        models = [[*unwrap(fitted, X)][-1] for fitted in estimators.values()]
        found = [model.predict(given) for model, given in models]
        return dict(zip(estimators, found, strict=True)), models

    @staticmethod
    def _with_truth(y_true, y_pred):
        """Return panels by name: the truth, then one prediction or several by name."""
        predictions = y_pred if isinstance(y_pred, dict) else {"prediction": y_pred}
        if "truth" in predictions:
            raise ValueError("a prediction cannot be called 'truth'")
        return {"truth": y_true, **predictions}
