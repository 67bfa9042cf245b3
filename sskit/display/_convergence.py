"""Plots of the convergence of fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from sskit._meta_estimators import fitted_with
from sskit._types import History, Self
from sskit.display._common import grid_of_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D


# Lines: their panel and style.
LINES = {"primal": ("objective", "-"), "dual": ("objective", "--"), "gap": ("gap", "-")}
SCALES = {
    "passes": ("n_passes", "passes"),
    "oracle_calls": ("n_oracle_calls", "oracle calls"),
    "time": ("time", "seconds"),
}


class ConvergenceDisplay:
    """Convergence of fits: objectives and duality gaps against passes, oracle calls or time.

    Draw it with `from_estimator`.

    Parameters
    ----------
    histories : dict of str to dict of ndarray
        The `history_` of each fit by its name in the legend.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : dict of str to matplotlib Axes
        The axes by panel: "objective", "gap".
    lines_ : dict of str to dict of str to matplotlib Line2D
        For each name the lines "primal", "dual" and "gap" that were drawn.
    legend_ : matplotlib Legend or None
        Names of the lines, if there are several fits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sskit import StructSVMClassifier
    >>> from sskit.display import ConvergenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> fits = {
    ...     name: StructSVMClassifier(lam=0.1, solver=name, random_state=0).fit(X, y)
    ...     for name in ("bcfw", "cutting_plane")
    ... }
    >>> display = ConvergenceDisplay.from_estimator(fits, x="oracle_calls")
    >>> sorted(display.lines_["cutting_plane"])
    ['dual', 'gap', 'primal']
    """

    figure_: Figure
    axes_: dict[str, Axes]
    lines_: dict[str, dict[str, Line2D]]
    legend_: Legend | None

    def __init__(self, *, histories: dict[str, History]) -> None:
        self.histories = histories

    @classmethod
    def from_estimator(
        cls,
        estimators: object,
        *,
        x: Literal["passes", "oracle_calls", "time"] = "passes",
        axes: Axes | Sequence[Axes] | np.ndarray | None = None,
    ) -> Self:
        """Draw the history of one fitted estimator or of several.

        Parameters
        ----------
        estimators : estimator, or dict of str to estimator
            Fitted; with names for the legend if there are several. For a pipeline the last step is
            drawn, for a search the model that it chose.
        x, axes : object
            See `plot`.

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If an estimator keeps no history, or several are given without names.
        NotFittedError
            If an estimator is not fitted.
        """
        if isinstance(estimators, (list, tuple)):
            raise TypeError("several estimators go into a dict, by the names of the legend")
        if not isinstance(estimators, dict):
            estimators = {None: estimators}
        histories = {}
        for name, estimator in estimators.items():
            fit, _ = fitted_with(estimator, "history_", "history_")
            histories[name or type(fit).__name__] = fit.history_
        display = cls(histories=histories)
        return display.plot(x=x, axes=axes)

    def plot(
        self,
        *,
        x: Literal["passes", "oracle_calls", "time"] = "passes",
        axes: Axes | Sequence[Axes] | np.ndarray | None = None,
    ) -> Self:
        """Draw objectives, and gaps beside them.

        Primal objectives are lines, dual ones dashed: the optimum is between them.

        Parameters
        ----------
        x : {"passes", "oracle_calls", "time"}, default="passes"
            What the horizontal axis counts: passes over the data, calls of the oracle, or
            seconds.
        axes : sequence of matplotlib Axes, default=None
            Two. None makes a figure.

        Returns
        -------
        self : ConvergenceDisplay
            The display.

        Raises
        ------
        ValueError
            If x is unknown, or if there are not two axes.
        """
        if x not in SCALES:
            raise ValueError(f"x must be one of {', '.join(map(repr, SCALES))}, got {x!r}")
        objective, gap = grid_of_axes((1, 2), axes, figsize=(7.6, 3.4))[0]
        self.axes_, self.figure_ = {"objective": objective, "gap": gap}, gap.figure
        column, label = SCALES[x]
        objective.set(xlabel=label, ylabel="objective")
        gap.set(xlabel=label, ylabel="duality gap", yscale="log")
        self.lines_ = {name: {} for name in self.histories}
        for k, (name, history) in enumerate(self.histories.items()):
            for what, (panel, style) in LINES.items():
                curve = history[what]
                # some solvers have a gap in some passes only; a gap of zero has no logarithm
                is_drawn = curve > 0.0 if what == "gap" else ~np.isnan(curve)
                options = {"color": f"C{k}", "marker": "." if is_drawn.sum() == 1 else None}
                (self.lines_[name][what],) = self.axes_[panel].plot(
                    history[column][is_drawn], curve[is_drawn], style, label=name, **options
                )
        several = len(self.histories) > 1
        self.legend_ = gap.legend(frameon=False) if several else None
        return self
