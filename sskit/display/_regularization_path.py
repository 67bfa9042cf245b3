"""Regularisation paths as pictures."""

from dataclasses import dataclass

import numpy as np

from sskit.display._common import fitted_with, grid_of_axes

PANELS = {
    "score": "test score",
    "gap": "duality gap / objective",
    "norm": "norm of the weights",
    "planes": "support planes",
}


@dataclass(kw_only=True, eq=False, repr=False)
class RegularizationPathDisplay:
    """What a regularisation path looks like against lam, or a choice of lam by folds.

    Draw it with `from_estimator`. A path has no scores, and a choice has nothing but them.

    Parameters
    ----------
    curves : dict of str to tuple of two ndarrays
        For each panel that there is, "score", "gap", "norm" and "planes", what is drawn against
        which lam: mean test scores at what was tried; bounds of the gap, as a share of the
        objective; norms of the weights, and numbers of planes with dual weight.
    max_gap : float, default=None
        The largest share that a path allows.
    score_stds : ndarray of shape (M,), default=None
        Standard deviations of the scores over the folds.
    chosen, default : float, default=None
        The chosen lam and the one that it was to beat, to be marked.
    certified : bool, default=True
        Whether the gaps are proofs; else the picture says that the path is heuristic.

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

    curves: dict
    max_gap: float | None = None
    score_stds: np.ndarray | None = None
    chosen: float | None = None
    default: float | None = None
    certified: bool = True

    @classmethod
    def from_estimator(cls, path, *, axes=None):
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
            With what was drawn.

        Raises
        ------
        TypeError
            If it is no path.
        NotFittedError
            If the path is not fitted.
        """
        path, _ = fitted_with(path, "max_breakpoints", "path: it must be a RegularizationPath")
        if hasattr(path, "lams_"):
            # a last piece that serves all lam is drawn down to a tenth of its breakpoint
            end = max(path.lam_end_, 0.1 * path.lams_[-1])
            lams = within_pieces(path.lams_, end)
            norms = np.sqrt(np.maximum(path.sqnorms_, 0.0))
            curves = {
                "gap": (lams, np.array([path.relative_gap_at(lam) for lam in lams])),
                "norm": steps(path.lams_, norms, end),
                "planes": steps(path.lams_, path.n_support_planes_, end),
            }
            display = cls(curves=curves, max_gap=path.max_gap_, certified=path.certified_)
        else:
            results = path.cv_results_
            known = ~np.isnan(results["mean_test_score"])
            lams = np.asarray(results["param_lam"])[known]
            display = cls(
                curves={"score": (lams, results["mean_test_score"][known])},
                score_stds=results["std_test_score"][known],
                chosen=path.best_lam_,
                default=path.default_lam_,
            )
        return display.plot(axes=axes)

    def plot(self, *, axes=None):
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
        n = len(self.curves)
        row = grid_of_axes((1, n), axes, figsize=(3.2 * n, 3.0))[0]
        self.axes_, self.figure_ = dict(zip(self.curves, row, strict=True)), row[0].figure
        self.lines_, self.band_ = {}, None
        for panel, ax in self.axes_.items():
            (self.lines_[panel],) = ax.plot(*self.curves[panel], color="tab:blue")
            ax.set(xscale="log", xlabel="lam", ylabel=PANELS[panel])
            if not ax.xaxis_inverted():
                ax.invert_xaxis()
        if "score" in self.axes_:
            ax, (lams, scores) = self.axes_["score"], self.curves["score"]
            self.lines_["score"].set_marker("o")
            # the few that were tried; those of a log scale overlap within one power of ten
            ax.set_xticks(lams, [f"{lam:.2g}" for lam in lams])
            ax.minorticks_off()
            low, high = scores - self.score_stds, scores + self.score_stds
            self.band_ = ax.fill_between(lams, low, high, color="tab:blue", alpha=0.2, linewidth=0)
            for lam, color in ((self.default, "gray"), (self.chosen, "tab:orange")):
                if lam is not None:
                    ax.axvline(lam, color=color, linestyle="--", zorder=1)
        if "gap" in self.axes_:
            self.axes_["gap"].axhline(self.max_gap, color="gray", linestyle=":", zorder=1)
            self.axes_["gap"].set_ylim(0.0, None)
            if not self.certified:
                self.axes_["gap"].set_title("heuristic path")
        if "norm" in self.axes_:
            self.axes_["norm"].set_yscale("log")
        return self


def within_pieces(lams, end, n=20):
    """Return n values of lam for each piece, from its breakpoint to just above the next."""
    ends = np.append(lams[1:] * (1.0 + 1e-9), end)
    return np.geomspace(lams, ends, n, axis=1).ravel()


def steps(lams, values, end):
    """Return the corners of a step function of falling lam, which ends at `end`."""
    ends = np.append(lams[1:], min(end, lams[-1]))
    return np.column_stack([lams, ends]).ravel(), np.repeat(values, 2)
