"""SegmentationDisplay: images beside the labels of their pixels."""

import numpy as np

from sskit.display._fitted import grid_of_axes, predict_and_input, with_truth
from sskit.display._paint import (
    agreement,
    draw_borders,
    draw_legend,
    label_colors,
    labels_in,
    masks_of,
    paint,
    segments_of,
)
from sskit.inputs.images import as_rgb, check_images
from sskit.inputs.rows import check_classes


class SegmentationDisplay:
    """Show images, the truth and one or several predictions side by side.

    One row per image: the image itself with the borders of its superpixels, then for each kind of
    mask the image in grey under the colours of the labels. Make it by `from_estimator` or
    `from_predictions`; the parameters are kept as attributes of the same names.

    Parameters
    ----------
    images : sequence of n ndarrays of shape (H_i, W_i) or (H_i, W_i, 3)
        Unsigned integers, or floats from 0 to 1.
    panels : dict of str to sequence of n ndarrays of shape (H_i, W_i)
        Masks by title, in the order of the columns: the label of every pixel.
    segments : sequence of n ndarrays of int of shape (H_i, W_i) or None, default=None
        The superpixel of every pixel, or objects that have them as ``segments``. Then masks may
        also be arrays (V_i,) with one label per superpixel.
    truth : str or None, default=None
        The panel that the others are compared with: the share of pixels that agree stands below
        each of them.
    labels : array-like of shape (K,) or None, default=None
        Which labels are painted, in the order of their colours; None takes all that occur but
        for `ignore_label`. Leave the background out to have it unpainted.
    display_labels : array-like of str of shape (K,) or None, default=None
        Names of `labels` for the legend; None takes the labels.
    ignore_label : object or None, default=None
        Pixels of this label are neither painted nor, in the truth, compared.

    Attributes
    ----------
    scores : dict of str to float
        The share of all pixels that are as in the truth, by panel; empty without a truth.
    figure_ : matplotlib Figure
        The figure, after ``plot``.
    axes_ : ndarray of matplotlib Axes of shape (n, 1 + number of panels)
        The axes, after ``plot``.

    Raises
    ------
    TypeError, ValueError
        If an image is none, a mask is not of the size of its image, or labels have not as many
        names. The item is named.

    See Also
    --------
    sskit.preprocessing.SuperpixelGraphs : Makes graphs of images, and knows their superpixels.

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
    >>> display.axes_.shape, list(display.scores)
    ((2, 3), ['prediction'])
    """

    def __init__(
        self,
        images,
        panels,
        *,
        segments=None,
        truth=None,
        labels=None,
        display_labels=None,
        ignore_label=None,
    ):
        self.images = check_images(images, "images")
        self.segments = None if segments is None else segments_of(segments, self.images)
        self.panels = {
            name: masks_of(masks, self.images, self.segments, name, ignore_label)
            for name, masks in panels.items()
        }
        if truth is not None and truth not in self.panels:
            raise ValueError(f"truth must be one of the panels {list(panels)}, got {truth!r}")
        self.truth = truth
        self.ignore_label = ignore_label
        found = labels_in(self.panels.values(), ignore_label) if labels is None else labels
        self.labels = np.asarray(check_classes(found, "labels"))
        names = self.labels if display_labels is None else display_labels
        if len(names) != len(self.labels):
            raise ValueError(
                f"display_labels has {len(names)} names but there are {len(self.labels)} labels: "
                f"{self.labels.tolist()}"
            )
        self.display_labels = [str(name) for name in names]
        self.scores = {
            name: agreement(self.panels[truth], masks, ignore_label)
            for name, masks in self.panels.items()
            if truth not in (None, name)
        }

    @classmethod
    def from_estimator(cls, estimator, X, y, *, images=None, segments=None, **options):
        """Predict the masks of images and show them beside the truth.

        Parameters
        ----------
        estimator : fitted estimator, or dict of str to fitted estimator
            Usually a pipeline from images to masks. Several are shown side by side under the
            names that a dict gives them.
        X : sequence of n images, or of what the estimator takes instead
            What to predict for.
        y : sequence of n ndarrays of shape (H_i, W_i)
            The true masks.
        images : sequence of n images or None, default=None
            What to draw; None draws `X`.
        segments : sequence of n ndarrays of int of shape (H_i, W_i) or None, default=None
            As of the class; None takes those of the graphs that `X` holds or that the first steps
            of a pipeline make of it.
        **options : dict
            Further parameters of `from_predictions`.

        Returns
        -------
        display : SegmentationDisplay
            The display, drawn.
        """
        estimators = estimator if isinstance(estimator, dict) else {"prediction": estimator}
        predictions = {}
        for name, fitted in estimators.items():
            predictions[name], graphs = predict_and_input(fitted, X)
            if segments is None and all(hasattr(graph, "segments") for graph in graphs):
                segments = graphs
        images = X if images is None else images
        return cls.from_predictions(images, y, predictions, segments=segments, **options)

    @classmethod
    def from_predictions(
        cls,
        images,
        y_true,
        y_pred,
        *,
        segments=None,
        labels=None,
        display_labels=None,
        ignore_label=None,
        axes=None,
        **plot_options,
    ):
        """Show predicted masks beside the truth.

        Parameters
        ----------
        images : sequence of n ndarrays of shape (H_i, W_i) or (H_i, W_i, 3)
            As of the class.
        y_true : sequence of n ndarrays of shape (H_i, W_i)
            The true masks.
        y_pred : sequence of n ndarrays of shape (H_i, W_i), or dict of str to such sequences
            The predicted masks, or those of several predictors by name.
        segments : sequence of n ndarrays of int of shape (H_i, W_i) or None, default=None
            As of the class.
        labels, display_labels : array-like of shape (K,) or None, default=None
            As of the class.
        ignore_label : object or None, default=None
            As of the class.
        axes : array-like of matplotlib Axes or None, default=None
            As of ``plot``.
        **plot_options : dict
            Further parameters of ``plot``.

        Returns
        -------
        display : SegmentationDisplay
            The display, drawn.
        """
        display = cls(
            images,
            with_truth(y_true, y_pred),
            segments=segments,
            truth="truth",
            labels=labels,
            display_labels=display_labels,
            ignore_label=ignore_label,
        )
        return display.plot(axes, **plot_options)

    def plot(
        self,
        axes=None,
        *,
        colors=None,
        alpha=0.55,
        borders=True,
        border_color="white",
        scores=True,
        legend=True,
    ):
        """Draw the display.

        Parameters
        ----------
        axes : array-like of matplotlib Axes of n * (1 + number of panels), or None, default=None
            Where to draw, row by row; None makes a new figure.
        colors : sequence of K colours, str, Colormap or None, default=None
            Colours of the labels, or the colormap they come from.
        alpha : float, default=0.55
            Weight of the colours over the grey image.
        borders : bool, default=True
            Whether to draw the borders of superpixels over the image, if they are known.
        border_color : colour, default="white"
            Their colour, and that of borders between labels.
        scores : bool, default=True
            Whether to write below each panel how many of its pixels are as in the truth.
        legend : bool, default=True
            Whether to add a legend of the labels to the figure.

        Returns
        -------
        self : SegmentationDisplay
            The display.

        Raises
        ------
        ValueError
            If there are not as many axes, or not as many colours, as needed.
        """
        tints = label_colors(len(self.labels), colors)
        shape = (len(self.images), 1 + len(self.panels))
        heights = [2.6 * image.shape[0] / image.shape[1] + 0.25 for image in self.images]
        figsize = 2.6 * shape[1], sum(heights) + 0.5
        self.axes_ = grid_of_axes(shape, axes, figsize=figsize, height_ratios=heights)
        self.figure_ = self.axes_[0, 0].figure
        true = self.panels.get(self.truth)
        for i, (image, row) in enumerate(zip(self.images, self.axes_, strict=True)):
            row[0].imshow(as_rgb(image), interpolation="nearest")
            if borders and self.segments is not None:
                draw_borders(row[0], self.segments[i], border_color, 0.4)
            for ax, (name, masks) in zip(row[1:], self.panels.items(), strict=True):
                painted = paint(image, masks[i], self.labels, tints, alpha)
                ax.imshow(painted, interpolation="nearest")
                draw_borders(ax, masks[i], border_color, 0.8)
                if scores and name in self.scores:
                    share = agreement([true[i]], [masks[i]], self.ignore_label)
                    ax.set_xlabel(f"{share:.1%} of pixels", fontsize="small")
            for ax in row:
                ax.set(xticks=[], yticks=[])
                for spine in ax.spines.values():
                    spine.set_visible(False)
        for ax, name in zip(self.axes_[0], ["image", *self.panels], strict=True):
            ax.set_title(name)
        if legend and len(self.labels):
            draw_legend(self.figure_, self.display_labels, tints)
        return self
