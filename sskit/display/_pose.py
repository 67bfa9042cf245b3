"""PoseDisplay: skeletons over images, score maps or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sskit._optional import optional
from sskit._types import ArrayLike, Samples, Self
from sskit.display._common import TruthDisplay, one_of_each
from sskit.inputs.edges import check_parents
from sskit.inputs.poses import by_part, check_poses, check_score_maps

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LINE_WIDTH = 3.0


class PoseDisplay(TruthDisplay):
    """Show poses as skeletons, the truth and one or several predictions side by side.

    One row per sample, one column per kind of pose. Make it by `from_estimator` or
    `from_predictions`; the parameters are stored as attributes of the same names.

    Parameters
    ----------
    panels : dict of str to sequence of n arrays of shape (n_parts, 2)
        x and y of the parts by title, in the order of the columns.
    parents : array-like of int of shape (n_parts,)
        The part to which each is connected by a line, -1 for roots.
    images : sequence of n arrays of shape (H_i, W_i), (H_i, W_i, 3) or None, default=None
        What to draw behind the poses; the middle of the first pixel is (0, 0). None leaves the
        canvas blank.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure, after ``plot``.
    axes_ : ndarray of matplotlib Axes of shape (n, number of panels)
        The axes, after ``plot``.

    Raises
    ------
    ValueError
        If poses do not have the shape that the parents require, there are not as many images as
        poses, or parents form a cycle. The error names the item.

    See Also
    --------
    sskit.PartsModel : Finds poses.

    Examples
    --------
    >>> from sskit.datasets import make_poses
    >>> from sskit.display import PoseDisplay
    >>> poses = make_poses(2, random_state=0)
    >>> display = PoseDisplay({"truth": poses.target}, poses.parents).plot()
    >>> display.axes_.shape
    (2, 1)
    """

    def __init__(
        self, panels: dict[str, Samples], parents: ArrayLike, *, images: Samples | None = None
    ) -> None:
        self.parents = check_parents(parents, "parents")
        if not panels:
            raise ValueError("panels must hold one kind of poses or more")
        n_parts = len(self.parents)
        self.panels = {name: check_poses(poses, name, n_parts) for name, poses in panels.items()}
        sizes = {name: len(poses) for name, poses in self.panels.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"panels must hold as many poses each, got {sizes}")
        self.images = None if images is None else [np.asarray(image) for image in images]
        n_poses = next(iter(sizes.values()))
        if self.images is not None and len(self.images) != n_poses:
            raise ValueError(f"there are {n_poses} poses but {len(self.images)} images")

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: Samples,
        y: Samples,
        *,
        images: Samples | None = None,
        **options: Any,
    ) -> Self:
        """Predict poses and show them beside the truth.

        Parameters
        ----------
        estimator : fitted PartsModel, or dict of str to such
            Or a pipeline that ends with one, or a search that chose one. Several are shown side by
            side under their names in a dict; they have the same parts.
        X : sequence of n arrays of shape (n_parts, H_i, W_i) or dicts
            Score maps, as the estimator takes them.
        y : sequence of n arrays of shape (n_parts, 2) or dicts
            The true positions, as the estimator takes them.
        images : sequence of n arrays of shape (H_i, W_i) or (H_i, W_i, 3), or None, default=None
            What to draw behind the poses; None draws the highest score of a part at each cell, in
            the maps that the (first) model gets.
        **options : dict
            Parameters of ``plot``.

        Returns
        -------
        display : PoseDisplay
            The display, drawn.
        """
        predictions, models = cls._predictions(estimator, X)
        model, maps = models[0]
        parents, names = model.parents_, model.part_names_
        y = [by_part(pose, f"y[{i}]", names, "position") for i, pose in enumerate(y)]
        if images is None:
            images = [x.max(axis=0) for x in check_score_maps(maps, len(parents), names)]
        return cls.from_predictions(y, predictions, parents, images=images, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Samples,
        y_pred: Samples,
        parents: ArrayLike,
        *,
        images: Samples | None = None,
        axes: Axes | Sequence[Axes] | np.ndarray | None = None,
        **plot_options: Any,
    ) -> Self:
        """Show predicted poses beside the truth.

        Parameters
        ----------
        y_true : sequence of n arrays of shape (n_parts, 2)
            The true positions.
        y_pred : sequence of n arrays of shape (n_parts, 2), or dict of str to such sequences
            The predicted positions, or those of several predictors by name.
        parents : array-like of int of shape (n_parts,)
            As of the class.
        images : sequence of n arrays of shape (H_i, W_i) or (H_i, W_i, 3), or None, default=None
            As of the class.
        axes : array-like of matplotlib Axes or None, default=None
            As of ``plot``.
        **plot_options : dict
            Further parameters of ``plot``.

        Returns
        -------
        display : PoseDisplay
            The display, drawn.
        """
        display = cls(cls._with_truth(y_true, y_pred), parents, images=images)
        return display.plot(axes, **plot_options)

    def plot(
        self,
        axes: Axes | Sequence[Axes] | np.ndarray | None = None,
        *,
        colors: Samples | None = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        axes : array-like of matplotlib Axes of n * number of panels, or None, default=None
            Where to draw, row by row; None makes a new figure.
        colors : sequence of n_parts colours or None, default=None
            The colour of each part and of the line to its parent.

        Returns
        -------
        self : PoseDisplay
            The display.

        Raises
        ------
        ValueError
            If there are not as many axes, or colours, as needed.
        """
        colors = one_of_each(len(self.parents), colors, "parts")
        n_poses, n_panels = len(next(iter(self.panels.values()))), len(self.panels)
        self._make_axes(n_poses, [*self.panels], axes, figsize=(2.6 * n_panels, 2.8 * n_poses))
        for i, row in enumerate(self.axes_):
            for ax, poses in zip(row, self.panels.values(), strict=True):
                self._draw_canvas(ax, i)
                self._draw_skeleton(ax, poses[i], colors)
        return self

    def _draw_canvas(self, ax, i):
        """Draw the image of a row, or set limits that contain all of its poses."""
        if self.images is not None:
            cmap = "gray" if self.images[i].ndim == 2 else None
            ax.imshow(self.images[i], cmap=cmap, interpolation="nearest")
            return
        points = np.concatenate([poses[i] for poses in self.panels.values()])
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.08 * max(1.0, (high - low).max())
        ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(high[1] + margin, low[1] - margin))
        ax.set_aspect("equal")

    def _draw_skeleton(self, ax, pose, colors):
        """Draw lines from the parts to their parents, and dots."""
        with optional():
            from matplotlib.collections import LineCollection
            from matplotlib.patheffects import withStroke

        hung = np.flatnonzero(self.parents >= 0)
        ends = np.stack([pose[hung], pose[self.parents[hung]]], axis=1)
        lines = LineCollection(ends, colors=colors[hung], linewidths=LINE_WIDTH, capstyle="round")
        # a dark rim keeps bright lines visible on bright images
        lines.set_path_effects([withStroke(linewidth=LINE_WIDTH + 1.5, foreground="black")])
        ax.add_collection(lines, autolim=False)
        ax.scatter(*pose.T, s=(2.2 * LINE_WIDTH) ** 2, c=colors, edgecolors="black", zorder=3)
