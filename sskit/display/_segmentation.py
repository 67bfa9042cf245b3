"""SegmentationDisplay: images beside the labels of their pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sskit._labels import is_ignored
from sskit._optional import optional
from sskit._types import ArrayLike, Samples, Self
from sskit.display._common import TruthDisplay, one_of_each
from sskit.inputs.masks import as_rgb, check_images, check_mask
from sskit.inputs.rows import check_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


GREY = np.array([0.2125, 0.7154, 0.0721], dtype=np.float32)
# Weight of the colours of labels over the grey image
ALPHA = 0.55


class SegmentationDisplay(TruthDisplay):
    """Show images, the truth and one or several predictions side by side.

    One row per image: the image itself with the borders of its superpixels, then for each kind of
    mask the image in grey under the colours of the labels. Make it by `from_estimator` or
    `from_predictions`; the parameters are stored as attributes of the same names.

    Parameters
    ----------
    images : sequence of n ndarrays of shape (H_i, W_i) or (H_i, W_i, 3)
        Unsigned integers, or floats from 0 to 1.
    panels : dict of str to sequence of n ndarrays of shape (H_i, W_i)
        Masks by title, in the order of the columns: the label of every pixel.
    segments : sequence of n ndarrays of int of shape (H_i, W_i) or None, default=None
        The superpixel of every pixel, or objects that have them as ``segments``. Then masks may
        also be arrays (V_i,) with one label per superpixel.
    labels : array-like of shape (K,) or None, default=None
        Which labels are coloured, in the order of their colours; None takes all that occur except
        `ignore_label`. Leave out the background to keep it without colour.
    display_labels : array-like of str of shape (K,) or None, default=None
        Names of `labels` for the legend; None takes the labels.
    ignore_label : object or None, default=None
        Pixels with this label are not coloured.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure, after ``plot``.
    axes_ : ndarray of matplotlib Axes of shape (n, 1 + number of panels)
        The axes, after ``plot``.

    Raises
    ------
    TypeError, ValueError
        If something is not an image, a mask does not have the size of its image, or the numbers of
        labels and names differ. The error names the item.

    See Also
    --------
    sskit.preprocessing.SuperpixelGraphs : Makes graphs of images, with their superpixels.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.datasets import make_segmentation_images
    >>> from sskit.display import SegmentationDisplay
    >>> X, y = make_segmentation_images(2, random_state=0)
    >>> guesses = [np.zeros_like(mask) for mask in y]
    >>> display = SegmentationDisplay.from_predictions(
    ...     X, y, guesses, display_labels=["water", "forest", "field", "sand"]
    ... )
    >>> display.axes_.shape
    (2, 3)
    """

    def __init__(
        self,
        images: Samples,
        panels: dict[str, Samples],
        *,
        segments: Samples | None = None,
        labels: ArrayLike | None = None,
        display_labels: ArrayLike | None = None,
        ignore_label: object = None,
    ) -> None:
        self.images = check_images(images, "images")
        self.segments = None
        if segments is not None:
            items = [np.asarray(getattr(item, "segments", item)) for item in segments]
            self.segments = masks_of(items, self.images, "segments")
        self.panels = {
            name: [
                check_mask(mask, f"{name}[{i}]", ignore_label)
                for i, mask in enumerate(masks_of(items, self.images, name, self.segments))
            ]
            for name, items in panels.items()
        }
        if labels is None:
            masks = [mask.ravel() for masks in self.panels.values() for mask in masks]
            flat = np.concatenate(masks) if masks else np.empty(0, dtype=np.int64)
            labels = np.unique(flat[~is_ignored(flat, ignore_label)])
        self.labels = np.asarray(check_classes(labels, "labels"))
        names = self.labels if display_labels is None else display_labels
        if len(names) != len(self.labels):
            raise ValueError(
                f"display_labels has {len(names)} names but there are {len(self.labels)} labels: "
                f"{self.labels.tolist()}"
            )
        self.display_labels = [str(name) for name in names]

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: Samples,
        y: Samples,
        *,
        images: Samples | None = None,
        segments: Samples | None = None,
        **options: Any,
    ) -> Self:
        """Predict the masks of images and show them beside the truth.

        Parameters
        ----------
        estimator : fitted estimator, or dict of str to fitted estimator
            Usually a pipeline from images to masks. Several are shown side by side under their
            names in a dict.
        X : sequence of n images, or of what the estimator takes instead
            Input of the estimator.
        y : sequence of n ndarrays of shape (H_i, W_i)
            The true masks.
        images : sequence of n images or None, default=None
            What to draw; None draws `X`.
        segments : sequence of n ndarrays of int of shape (H_i, W_i) or None, default=None
            As of the class; None takes those of the graphs in `X` or of those that the first steps
            of a pipeline make.
        **options : dict
            Further parameters of `from_predictions`.

        Returns
        -------
        display : SegmentationDisplay
            The display, drawn.
        """
        predictions, models = cls._predictions(estimator, X)
        for _, graphs in models:
            if segments is None and all(hasattr(graph, "segments") for graph in graphs):
                segments = graphs
        images = X if images is None else images
        return cls.from_predictions(images, y, predictions, segments=segments, **options)

    @classmethod
    def from_predictions(
        cls,
        images: Samples,
        y_true: Samples,
        y_pred: Samples,
        *,
        axes: Axes | Sequence[Axes] | np.ndarray | None = None,
        colors: Samples | None = None,
        **parameters: Any,
    ) -> Self:
        """Show predicted masks beside the truth.

        Parameters
        ----------
        images : sequence of n ndarrays of shape (H_i, W_i) or (H_i, W_i, 3)
            As of the class.
        y_true : sequence of n ndarrays of shape (H_i, W_i)
            The true masks.
        y_pred : sequence of n ndarrays of shape (H_i, W_i), or dict of str to such sequences
            The predicted masks, or those of several predictors by name.
        axes, colors : object
            As of `plot`.
        **parameters : object
            Further ones of the class: segments, labels, display_labels and ignore_label.

        Returns
        -------
        display : SegmentationDisplay
            The display, drawn.
        """
        return cls(images, cls._with_truth(y_true, y_pred), **parameters).plot(axes, colors=colors)

    def plot(
        self,
        axes: Axes | Sequence[Axes] | np.ndarray | None = None,
        *,
        colors: Samples | None = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        axes : array-like of matplotlib Axes of n * (1 + number of panels), or None, default=None
            Where to draw, row by row; None makes a new figure.
        colors : sequence of K colours or None, default=None
            Colours of the labels; None takes matplotlib's colours of categories, or the hues of a
            circle where those are too few.

        Returns
        -------
        self : SegmentationDisplay
            The display.

        Raises
        ------
        ValueError
            If there are not as many axes, or not as many colours, as needed.
        """
        with optional():
            from matplotlib.patches import Patch

        tints = one_of_each(len(self.labels), colors, "labels")
        titles = ["image", *self.panels]
        heights = [2.6 * image.shape[0] / image.shape[1] + 0.25 for image in self.images]
        figure = {"figsize": (2.6 * len(titles), sum(heights) + 0.5), "height_ratios": heights}
        self._make_axes(len(self.images), titles, axes, **figure)
        for i, (image, row) in enumerate(zip(self.images, self.axes_, strict=True)):
            row[0].imshow(as_rgb(image), interpolation="nearest")
            if self.segments is not None:
                draw_borders(row[0], self.segments[i], 0.4)
            for ax, masks in zip(row[1:], self.panels.values(), strict=True):
                painted = paint(image, masks[i], self.labels, tints)
                ax.imshow(painted, interpolation="nearest")
                draw_borders(ax, masks[i], 0.8)
            for ax in row:
                ax.spines[:].set_visible(False)
        if len(self.labels):
            names = zip(self.display_labels, tints, strict=True)
            handles = [Patch(color=color, label=name) for name, color in names]
            place = {"loc": "outside lower center", "ncols": min(len(self.labels), 8)}
            self.figure_.legend(handles=handles, frameon=False, **place)
        return self


def paint(image, mask, labels, colors):
    """Return an image in grey with the pixels of each label tinted.

    Parameters
    ----------
    image : ndarray of shape (H, W) or (H, W, 3)
        One that was validated.
    mask : ndarray of shape (H, W)
        The label of every pixel.
    labels : ndarray of shape (K,)
        Which labels are tinted.
    colors : ndarray of shape (K, 3)
        Their colours.

    Returns
    -------
    rgb : ndarray of float32 of shape (H, W, 3)
        Values from 0 to 1.
    """
    grey = as_rgb(image) @ GREY
    painted = np.repeat(grey[..., None], 3, axis=2)
    for label, color in zip(labels, colors, strict=True):
        inside = mask == label
        painted[inside] = (1 - ALPHA) * painted[inside] + ALPHA * color
    return painted.clip(0, 1)


def draw_borders(ax, regions, width):
    """Draw the borders between regions of an array of pixels, in white."""
    with optional():
        from matplotlib.collections import LineCollection

    lines = border_lines(regions)
    lines = LineCollection(lines, colors="white", linewidths=width, capstyle="round")
    ax.add_collection(lines, autolim=False)


def border_lines(regions):
    """Return the sides of pixels that lie between regions.

    Parameters
    ----------
    regions : ndarray of shape (H, W)
        The region of every pixel.

    Returns
    -------
    lines : ndarray of shape (n, 2, 2)
        Both ends (x, y) of each side.
    """
    y, x = np.nonzero(regions[:-1] != regions[1:])
    below = np.stack([x - 0.5, y + 0.5, x + 0.5, y + 0.5], axis=1)
    y, x = np.nonzero(regions[:, :-1] != regions[:, 1:])
    beside = np.stack([x + 0.5, y - 0.5, x + 0.5, y + 0.5], axis=1)
    return np.concatenate([below, beside]).reshape(-1, 2, 2)


def masks_of(items, images, name, segments=None):
    """Return masks as arrays, one for each image, of its shape.

    Parameters
    ----------
    items : sequence of array-likes
        Masks, or labels of superpixels.
    images : list of ndarray
        Checked.
    name : str
        What error messages call the masks.
    segments : list of ndarray of shape (H_i, W_i) or None, default=None
        The superpixel of every pixel, if it is known.

    Returns
    -------
    masks : list of ndarray of shape (H_i, W_i)
    """
    if len(items) != len(images):
        raise ValueError(f"{name} has {len(items)} entries but there are {len(images)} images")
    masks = []
    for i, (item, image) in enumerate(zip(items, images, strict=True)):
        mask = item if isinstance(item, np.ndarray) else np.array(item, dtype=object)
        if mask.ndim == 1 and segments is not None:
            n_nodes = int(segments[i].max()) + 1
            if len(mask) != n_nodes:
                raise ValueError(
                    f"{name}[{i}] has {len(mask)} labels but segments[{i}] has {n_nodes} "
                    "superpixels"
                )
            mask = mask[segments[i]]
        if mask.shape != image.shape[:2]:
            raise ValueError(
                f"{name}[{i}] has shape {mask.shape} but images[{i}] has shape {image.shape}"
            )
        masks.append(mask)
    return masks
