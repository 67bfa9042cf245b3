"""Plots of regularisation paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sskit._meta_estimators import fitted_with
from sskit._types import Self
from sskit.display._common import grid_of_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


PANELS = {
    "score": "test score",
    "gap": "duality gap / objective",
    "norm": "norm of the weights",
    "planes": "support planes",
}


class RegularizationPathDisplay:
    """A regularisation path against lam, or a choice of lam by folds.

    Draw it with `from_estimator`. For a path it shows bounds of the gap, as a fraction of the
    objective, which rise from the lam where a model was found to that of the next one, norms of
    the weights and, of hinges, numbers of planes with dual weight; for a choice the mean test
    scores of all lam that were tried, with their standard deviations, the chosen lam and the one it
    is compared with.

    Parameters
    ----------
    path : RegularizationPath
        Fitted.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : dict of str to matplotlib Axes
        The axes by panel: "score", "gap", "norm", "planes".
    lines_ : dict of str to matplotlib Line2D
        The line of each panel.
    band_ : matplotlib artist or None
        The band around the score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sskit import RegularizationPath, StructSVMClassifier
    >>> from sskit.display import RegularizationPathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> path = RegularizationPath(StructSVMClassifier(random_state=0), lam_min=0.01)
    >>> display = RegularizationPathDisplay.from_estimator(path.fit(X, y))
    >>> sorted(display.axes_)
    ['gap', 'norm', 'planes']
    >>> choice = RegularizationPath(StructSVMClassifier(random_state=0), cv=3)
    >>> display = RegularizationPathDisplay.from_estimator(choice.fit(X, y))
    >>> sorted(display.axes_)
    ['score']
    """

    figure_: Figure
    axes_: dict[str, Axes]
    lines_: dict[str, Line2D]
    band_: PolyCollection | None

    def __init__(self, path: Any) -> None:
        self.path = path

    @classmethod
    def from_estimator(
        cls, path: Any, *, axes: Axes | Sequence[Axes] | np.ndarray | None = None
    ) -> Self:
        """Draw a fitted path.

        Parameters
        ----------
        path : RegularizationPath
            Fitted; or a pipeline that ends with one.
        axes : object
            See `plot`.

        Returns
        -------
        display : RegularizationPathDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If it is not a path.
        NotFittedError
            If the path is not fitted.
        """
        path, _ = fitted_with(path, "max_breakpoints", "path: it must be a RegularizationPath")
        return cls(path).plot(axes=axes)

    def curves(self) -> dict[str, np.ndarray]:
        """Return the drawn values against lam, by panel."""
        path = self.path
        if not hasattr(path, "lams_"):
            means = path.cv_results_["mean_test_score"]
            is_tested = ~np.isnan(means)
            return {"score": (path.cv_results_["param_lam"][is_tested], means[is_tested])}
        # a last piece, valid for all smaller lam, is drawn down to a tenth of its breakpoint
        lams = np.append(path.lams_, max(path.lam_end_, 0.1 * path.lams_[-1]))
        ends = np.append(lams[1:-1] * (1.0 + 1e-9), lams[-1])
        inside = np.geomspace(lams[:-1], ends, 20, axis=1).ravel()
        steps = {"norm": np.sqrt(np.maximum(path.sqnorms_, 0.0))}
        if hasattr(path, "n_support_planes_"):
            steps["planes"] = path.n_support_planes_
        gaps = {"gap": (inside, np.array([path.relative_gap_at(lam) for lam in inside]))}
        return gaps | {name: (lams, np.append(y, y[-1])) for name, y in steps.items()}

    def plot(self, *, axes: Axes | Sequence[Axes] | np.ndarray | None = None) -> Self:
        """Draw the panels side by side.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One for each panel. None makes a figure.

        Returns
        -------
        self : RegularizationPathDisplay
            The display.

        Raises
        ------
        ValueError
            If there are not as many axes as panels.
        """
        path, curves = self.path, self.curves()
        n = len(curves)
        row = grid_of_axes((1, n), axes, figsize=(3.2 * n, 3.0))[0]
        self.axes_, self.figure_ = dict(zip(curves, row, strict=True)), row[0].figure
        self.lines_, self.band_ = {}, None
        for panel, ax in self.axes_.items():
            (self.lines_[panel],) = ax.plot(*curves[panel], color="tab:blue")
            ax.set(xscale="log", xlabel="lam", ylabel=PANELS[panel])
            if not ax.xaxis_inverted():
                ax.invert_xaxis()
        if "score" in self.axes_:
            ax, (lams, scores) = self.axes_["score"], curves["score"]
            self.lines_["score"].set_marker("o")
            # the few that were tried; those of a log scale overlap within one power of ten
            ax.set_xticks(lams, [f"{lam:.2g}" for lam in lams])
            ax.minorticks_off()
            stds = path.cv_results_["std_test_score"]
            stds = stds[~np.isnan(stds)]
            band = lams, scores - stds, scores + stds
            self.band_ = ax.fill_between(*band, color="tab:blue", alpha=0.2, linewidth=0)
            for lam, color in ((path.default_lam_, "gray"), (path.best_lam_, "tab:orange")):
                ax.axvline(lam, color=color, linestyle="--", zorder=1)
        else:
            self._explain_gap(self.axes_["gap"])
            self.axes_["norm"].set_yscale("log")
            for panel in curves.keys() - {"gap"}:
                self.lines_[panel].set_drawstyle("steps-post")
        return self

    def _explain_gap(self, ax):
        """Say in words what the bound of the gap is: it rises, and falls where a model begins."""
        path, text_style = self.path, {"fontsize": "small", "va": "bottom"}
        ax.axhline(path.max_gap_, color="gray", linestyle=":", zorder=1)
        ax.set_ylim(0.0, 1.35 * path.max_gap_ if path.max_gap_ > 0.0 else None)
        ax.set_title("" if path.certified_ else "heuristic path")
        bound, n = f"the largest gap, {path.max_gap_:.2g}", len(path.lams_)
        ax.annotate(bound, (0.02, path.max_gap_), xycoords=("axes fraction", "data"), **text_style)
        text_style["va"] = "top"
        model = f"one model between two drops, {n} in all" if n > 1 else "one model for all lam"
        ax.annotate(model, (0.02, 0.98), xycoords="axes fraction", **text_style)
