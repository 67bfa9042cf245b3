"""Helpers of all displays: axes, the truth beside predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sskit._meta_estimators import unwrap
from sskit._optional import optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    with optional():
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


def one_of_each(n, colors, noun):
    """Return colours for n things.

    Parameters
    ----------
    n : int
        Number of things.
    colors : sequence of colours, or None
        At least n; None takes matplotlib's colours of categories, or the hues of a circle where
        those are too few.
    noun : str
        What error messages call the things.

    Returns
    -------
    rgb : ndarray of float64 of shape (n, 3)
        Red, green and blue from 0 to 1.

    Raises
    ------
    ValueError
        If there are too few colours.
    """
    with optional():
        import matplotlib as mpl

    if colors is None:
        few = n <= mpl.colormaps["tab10"].N
        colors = mpl.colormaps["tab10"].colors if few else mpl.colormaps["hsv"](np.arange(n) / n)
    if len(colors) < n:
        raise ValueError(f"there are {n} {noun} but only {len(colors)} colors")
    return mpl.colors.to_rgba_array(colors[:n])[:, :3]


class TruthDisplay:
    """Base of displays of the truth and predictions side by side, a row for each sample."""

    figure_: Figure
    axes_: np.ndarray

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
        """Return the predictions of one estimator or several, by name, and the input of each model.

        Parameters
        ----------
        estimator : estimator, or dict of str to estimator
            Fitted.
        X : object
            Their input.

        Returns
        -------
        predictions : dict of str to sequence
            By each.
        models : list of tuple (estimator, object)
            The last estimator of each, and its input.
        """
        estimators = estimator if isinstance(estimator, dict) else {"prediction": estimator}
        # not by the outer estimator, which does not show the input of the inner one
        models = [[*unwrap(fitted, X)][-1] for fitted in estimators.values()]
        predictions = [model.predict(inputs) for model, inputs in models]
        return dict(zip(estimators, predictions, strict=True)), models

    @staticmethod
    def _with_truth(y_true, y_pred):
        """Return panels by name: the truth, then one prediction or several by name."""
        predictions = y_pred if isinstance(y_pred, dict) else {"prediction": y_pred}
        if "truth" in predictions:
            raise ValueError("a prediction cannot be called 'truth'")
        return {"truth": y_true, **predictions}
