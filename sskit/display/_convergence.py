"""Convergence of fits as pictures."""

import numpy as np

from sskit.display._common import check_panels, fitted_with, row_of_axes

PANELS = {"objective": "objective", "gap": "duality gap"}
SCALES = {
    "passes": ("n_passes", "passes"),
    "oracle_calls": ("n_oracle_calls", "oracle calls"),
    "time": ("time", "seconds"),
}


class ConvergenceDisplay:
    """How fits converge: objectives and duality gaps against passes, oracle calls or time.

    Draw it with `from_estimator`.

    Parameters
    ----------
    histories : dict of str to dict of ndarray
        The `history_` of each fit by the name that the legend shows.

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

    def __init__(self, *, histories):
        self.histories = histories

    @classmethod
    def from_estimator(cls, estimators, *, x="passes", panels=None, axes=None, **line_options):
        """Draw the history of one fitted estimator or of several.

        Parameters
        ----------
        estimators : estimator, or dict of str to estimator
            Fitted; with names for the legend if there are several. Of a pipeline the last step
            is drawn, of a search the model that it chose.
        x, panels, axes, **line_options : object
            See `plot`.

        Returns
        -------
        display : ConvergenceDisplay
            With what was drawn.

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
        if not estimators:
            raise ValueError("estimators must hold at least one")
        histories = {}
        for name, estimator in estimators.items():
            fit, _ = fitted_with(estimator, "history_", "history_")
            histories[name or type(fit).__name__] = fit.history_
        display = cls(histories=histories)
        return display.plot(x=x, panels=panels, axes=axes, **line_options)

    def plot(self, *, x="passes", panels=None, axes=None, **line_options):
        """Draw the panels side by side.

        Parameters
        ----------
        x : {"passes", "oracle_calls", "time"}, default="passes"
            What the horizontal axis counts: passes over the data, calls of the oracle, or
            seconds.
        panels : sequence of {"objective", "gap"}, default=None
            Which, in this order; None means both. "objective" has primal objectives as lines and
            dual ones dashed: the optimum lies between them.
        axes : sequence of matplotlib Axes, default=None
            One for each panel. None makes a figure.
        **line_options : object
            Handed on to matplotlib for all lines.

        Returns
        -------
        self : ConvergenceDisplay
            The display.

        Raises
        ------
        ValueError
            If x or a panel is unknown, or if there are not as many axes as panels.
        """
        if x not in SCALES:
            raise ValueError(f"x must be one of {', '.join(map(repr, SCALES))}, got {x!r}")
        panels = check_panels(panels, PANELS)
        self.axes_ = dict(zip(panels, row_of_axes(len(panels), axes, (3.8, 3.4)), strict=True))
        self.figure_ = next(iter(self.axes_.values())).figure
        column, label = SCALES[x]
        self.lines_ = {name: {} for name in self.histories}
        for panel, ax in self.axes_.items():
            for k, (name, history) in enumerate(self.histories.items()):
                for what, curve in self._curves(panel, history).items():
                    # some solvers know their gap in some passes only
                    known = ~np.isnan(curve)
                    dashed = what == "dual"
                    options = {
                        "color": f"C{k}",
                        "marker": "." if known.sum() == 1 else None,
                        "linestyle": "--" if dashed else "-",
                        "label": None if dashed else name,
                    } | line_options
                    places = history[column][known]
                    (self.lines_[name][what],) = ax.plot(places, curve[known], **options)
            ax.set(xlabel=label, ylabel=PANELS[panel])
        if "gap" in self.axes_:
            self.axes_["gap"].set_yscale("log")
        self.legend_ = None
        if len(self.histories) > 1:
            # above the panels of a figure of our own, else within the last one
            where = {"loc": "outside upper center", "ncols": 2} if axes is None else {}
            owner = self.figure_ if axes is None else ax
            self.legend_ = owner.legend(*ax.get_legend_handles_labels(), frameon=False, **where)
        return self

    @staticmethod
    def _curves(panel, history):
        """Return what a panel shows of a history."""
        if panel == "objective":
            return {"primal": history["primal"], "dual": history["dual"]}
        # a gap of zero has no place on a scale of powers
        return {"gap": np.where(history["gap"] > 0.0, history["gap"], np.nan)}
