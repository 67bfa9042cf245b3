"""What fitted segmentation models say of graphs."""

from dataclasses import dataclass

import numpy as np

from sskit._labels import is_ignored
from sskit.estimators.base.fitted_state import (
    check_choice,
    check_count,
    check_labels,
    check_numbers,
    raise_damaged,
)
from sskit.inputs.masks import check_masks, node_targets, paint
from sskit.inputs.ragged import PREDICTS, check_kinds, split
from sskit.inputs.weights import check_sample_weight
from sskit.models.graph.cuts import allows_cuts
from sskit.models.graph.model import FORMS, AnyGraphModel, GraphModel


def check_graph_model(estimator):
    """Return the number of labels of a fitted model of graphs, or raise ValueError.

    Parameters
    ----------
    estimator : SegmentationModel
        Fitted.

    Returns
    -------
    n_classes : int
        Number of labels.

    Raises
    ------
    ValueError
        Naming the attribute that does not fit.
    """
    n_classes = check_labels(estimator)
    sizes = [check_count(estimator, name) for name in ("n_features_in_", "n_edge_features_in_")]
    form, inference = estimator.pairwise_form_, estimator.inference_
    check_choice(estimator, "pairwise_form_", form, ("potts", "full"))
    check_choice(estimator, "inference_", inference, GraphModel.inferences[1:])
    tables = () if form == "potts" else (n_classes, n_classes)
    # weights of the nodes are looked at with the scores of a request
    check_numbers(estimator, {"coef_": (n_classes, sizes[0])}, finite=False)
    check_numbers(estimator, {"pairwise_": (sizes[1], *tables)})
    if inference != "elimination" and not allows_cuts(estimator.pairwise_):
        raise_damaged(estimator, "pairwise_ prefers different labels, so that there is no cut")
    return n_classes


def check_any_graph_model(estimator):
    """Return the number of labels of a fitted `GraphTagger`, or raise ValueError.

    Parameters
    ----------
    estimator : GraphTagger
        Fitted.

    Returns
    -------
    n_classes : int
        Number of labels.

    Raises
    ------
    ValueError
        Naming the attribute that does not fit.
    """
    n_classes = check_labels(estimator)
    sizes = [check_count(estimator, name) for name in ("n_features_in_", "n_edge_features_in_")]
    check_choice(estimator, "pairwise_form_", estimator.pairwise_form_, FORMS)
    tables = () if estimator.pairwise_form_ == "potts" else (n_classes, n_classes)
    check_numbers(estimator, {"coef_": (n_classes, sizes[0])})
    check_numbers(estimator, {"pairwise_": (sizes[1], *tables)})
    kinds, mask = estimator.node_kinds_, estimator.kind_classes_
    if (kinds is None) != (mask is None):
        raise_damaged(estimator, "one of node_kinds_ and kind_classes_ is None, but not both")
    if kinds is None:
        return n_classes
    if not isinstance(kinds, np.ndarray) or kinds.ndim != 1:
        raise_damaged(estimator, "node_kinds_ must be an array of shape (n_kinds,), or None")
    shape = len(kinds), n_classes
    if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != shape:
        raise_damaged(estimator, f"kind_classes_ must be a boolean array of shape {shape}")
    return n_classes


def check_node_weights(estimator):
    """Raise ValueError if weights of the nodes are no finite numbers."""
    check_numbers(estimator, {"coef_": estimator.coef_.shape})


class SegmenterMixin:
    """Prediction and scoring of estimators that label every node of a graph.

    The estimator has ``_decoder(X)``, which checks X and returns an object with the methods
    ``best()``, ``node_scores()`` and ``max_marginals()``, and the graphs;
    ``_labels_of_single(X)``, the labels of a list of one graph that there is a short way for, or
    None; and `predicts_pixels_`, whether it was fitted to labels of pixels.
    """

    def predict(self, X):
        """Return labels of each graph.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of labels: of shape (V_i,), of the nodes, or (H_i, W_i), of
            the pixels, if the model was fitted to such.
        """
        labels = self._labels_of_single(X)
        if labels is not None:
            y = np.empty(1, dtype=object)
            y[0] = labels
            return y
        decoder, graphs = self._decoder(X)
        labels = self.classes_[decoder.best()]
        return (
            paint(labels, graphs) if self.predicts_pixels_ else split(labels, graphs.node_offsets)
        )

    def decision_function(self, X):
        """Return the max-marginals: for each node and label the best score with that label.

        Found by minimum cuts for two labels. For more labels, where the best labelling is not
        known for certain, it is the score of the predicted labelling with this label put in at
        this node: never more than the max-marginal. In both cases the largest number of a row
        belongs to the predicted label.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (V_i, n_classes).
        """
        decoder, graphs = self._decoder(X)
        return split(decoder.max_marginals(), graphs.node_offsets)

    def node_scores(self, X):
        """Return the score of each node and label without regard to the edges.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (V_i, n_classes).
        """
        decoder, graphs = self._decoder(X)
        return split(decoder.node_scores(), graphs.node_offsets)

    def score(self, X, y, sample_weight=None):
        """Return the share of nodes, weighted by their areas if any, or pixels labelled right.

        Each mistake counts the same, whatever `loss`.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.
        y : sequence of n_samples arrays (V_i,) or (H_i, W_i)
            True labels, of pixels if the model was fitted to such. Those that are
            `ignore_label` do not count.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the graphs; each counts for all of its nodes or pixels.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        decoder, graphs = self._decoder(X)
        weight = check_sample_weight(sample_weight, len(graphs))
        weight = np.ones(len(graphs)) if weight is None else weight
        found = self.classes_[decoder.best()]
        if self.predicts_pixels_:
            masks = check_masks(y, graphs, self.ignore_label)
            return self._pixel_score(paint(found, graphs), masks, weight)
        truth, labelled, masks = node_targets(y, graphs, self.ignore_label)
        if masks is not None:
            raise ValueError("y has labels of pixels, but the model was fitted to those of nodes")
        check_kinds(truth, found, PREDICTS)
        of_node = np.repeat(weight, graphs.n_nodes) * labelled
        if graphs.areas is not None:
            of_node *= np.concatenate(graphs.areas)
        return weighted_share(found == truth, of_node)

    def _pixel_score(self, found, masks, weight):
        """Return the share of labelled pixels that are right."""
        right = total = 0.0
        for prediction, mask, c in zip(found, masks, weight, strict=True):
            check_kinds(mask, prediction, PREDICTS)
            counted = ~is_ignored(mask, self.ignore_label)
            right += c * np.count_nonzero((prediction == mask) & counted)
            total += c * np.count_nonzero(counted)
        return weighted_share(np.array([True, False]), np.array([right, total - right]))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "graph_labeller"
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags


def weighted_share(right, weight):
    """Return the share of the weight that is right."""
    if not weight.sum() > 0:
        raise ValueError("y has no labels that count: all are ignored or have the weight 0")
    return float(np.average(right, weights=weight))


@dataclass(frozen=True)
class GraphWeights:
    """Names the weights of a graph; see `TrainingTask`.

    Attributes
    ----------
    kind : tuple
        Arguments of the model.
    classes : ndarray of shape (n_classes,)
        The labels.
    paints : bool
        Whether labels are those of pixels.
    """

    kind: tuple
    classes: np.ndarray
    paints: bool

    def model(self):
        """Return the model."""
        return GraphModel(*self.kind)

    def __call__(self, w):
        """Return fitted attributes by name, of flat weights; their arrays are their own."""
        n_features, n_edge_features, n_states, form, *inference = self.kind
        if n_states != np.size(self.classes):  # before tables of all pairs of states are made
            what = f"kind[2] must be the number of classes, {np.size(self.classes)}"
            raise_damaged(self, f"{what}, got {n_states!r}")
        model = self.model()
        return {
            "coef_": np.array(model.layout.split(w)["coef"], order="K"),
            "pairwise_": model.tables(w),
            "classes_": self.classes,
            "n_features_in_": n_features,
            "n_edge_features_in_": n_edge_features,
            "pairwise_form_": form,
            "predicts_pixels_": self.paints,
            **({"inference_": inference[0]} if inference else {}),
        }

    def names(self):
        """Return the attributes that say what entries of weights are of."""
        return {"classes_": self.classes}

    def weight_shapes(self):
        """Return the shapes of the weights by the names of their attributes."""
        weights = self(np.zeros(self.model().layout.n_weights))
        return {name: weights[name].shape for name in ("coef_", "pairwise_")}

    def flat(self, weights):
        """Return the flat weights of arrays of these shapes; tables must be of the form."""
        model = self.model()
        w = model.weights(weights["coef_"], weights["pairwise_"])
        if not np.array_equal(model.tables(w), weights["pairwise_"]):
            raise ValueError("prior['pairwise_'] must have symmetric tables, as this model has")
        return w


@dataclass(frozen=True)
class AnyGraphWeights(GraphWeights):
    """Names the weights of any graph; see `TrainingTask`.

    Attributes
    ----------
    node_kinds : ndarray of shape (n_kinds,) or None
        The kinds of nodes.
    mask : ndarray of shape (n_kinds, n_classes), bool, or None
        Which labels nodes of a kind may have.
    """

    node_kinds: np.ndarray | None
    mask: np.ndarray | None

    def model(self):
        """Return the model."""
        return AnyGraphModel(*self.kind)

    def __call__(self, w):
        """Return fitted attributes by name, of flat weights; their arrays are their own."""
        return super().__call__(w) | {"node_kinds_": self.node_kinds, "kind_classes_": self.mask}
