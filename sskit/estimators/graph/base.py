"""What the estimators of graphs share: checks, what data say, and prediction."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils._param_validation import StrOptions

from sskit._labels import is_ignored
from sskit._parameters import parameter, parameters
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import StructuredEstimator, TrainingTask
from sskit.estimators.base.facts import Labels, RowFacts, TrainingData, same
from sskit.estimators.base.fitted_state import (
    check_count,
    check_fitted,
    check_labels,
    check_numbers,
)
from sskit.estimators.base.known import check_known
from sskit.estimators.base.partial_labels import PartialLabels
from sskit.estimators.base.tagging import best_of_states, check_states, state_labels
from sskit.estimators.reasons.columns import Columns
from sskit.inputs.costs import cost_table, factored
from sskit.inputs.graphs import check_graphs
from sskit.inputs.masks import check_masks, node_targets, paint
from sskit.inputs.ragged import PREDICTS, check_kinds, split
from sskit.inputs.ragged_array import object_array
from sskit.inputs.weights import check_sample_weight
from sskit.models.graph.data import (
    check_edge_features,
    default_lam,
    node_costs,
    node_scale,
    node_sums,
)
from sskit.models.graph.model import FORMS, form_of

LOSSES = StrOptions({"hamming", "hamming_sum", "balanced"}), "array-like", dict


@dataclass(frozen=True, kw_only=True)
class GraphFacts(RowFacts):
    """What graphs say of all data; the counts of labels are weights of nodes."""

    n_edge_features: int = same("X has {} edge features, but part {} has {}")
    labels_of: str = same("y has labels of {}, but part {} has labels of {}")
    n_labelled: int


@parameters
class GraphEstimator(StructuredEstimator):
    """Base of the estimators that label the nodes of graphs.

    A subclass has the parameters `loss`, `node_weights` and `ignore_label`.
    """

    _facts = GraphFacts
    _type_of_estimator = "graph_labeller"
    _with_kinds = False  # may nodes have kinds?
    loss: object = parameter("hamming_sum", *LOSSES)
    node_weights: str | None = parameter(None, StrOptions({"areas"}), None)
    ignore_label: object = parameter(None)

    def _gate(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        graphs = self._check_graphs(X)
        target, labelled, masks = node_targets(y, graphs, self.ignore_label)
        weight = check_sample_weight(sample_weight, len(graphs), part=part)
        if self.node_weights == "areas" and graphs.areas is None:
            raise ValueError("node_weights='areas' needs graphs with areas, which X has not")
        check_edge_features(graphs.edge_features)
        # refuses features that are too large, whatever lam
        scale = node_scale(graphs.features, weight, graphs.n_nodes)
        classes, codes = np.unique(target[labelled], return_inverse=True)
        labels = np.zeros(len(target), dtype=np.int64)
        labels[labelled] = codes
        n_labelled, of_class = node_sums(labels, labelled, len(classes), self._areas(graphs))
        facts = {
            "labels": Labels(classes, of_class),
            "n_edge_features": graphs.n_edge_features,
            "labels_of": "nodes" if masks is None else "pixels",
            "n_labelled": n_labelled,
        }
        known = PartialLabels(classes, labels, ignored=~labelled)
        return TrainingData(graphs, known, weight, Columns(), scale, facts)

    def _check_graphs(self, X, **expected):
        """Return checked graphs."""
        return check_graphs(X, with_kinds=self._with_kinds, **expected)

    def _check_facts(self, facts):
        """Raise ValueError if no node of all parts has a label, or parameters do not fit."""
        if not facts.n_labelled:
            raise ValueError(f"y has no labels but ignore_label={self.ignore_label!r}")
        self._model(facts)
        if not callable(self.loss):
            cost_table(self.loss, facts.labels.values)

    def _areas(self, graphs):
        """Return the weights of nodes, None for ones."""
        return np.concatenate(graphs.areas) if self.node_weights == "areas" else None

    def _loss_kind(self):
        """Return what weights of nodes are scaled for: the name of a loss."""
        return self.loss if isinstance(self.loss, str) else "hamming_sum"

    def _with_pair_costs(self, cost, labels, classes):
        """Return costs of nodes, and the table (K, K) of pairs of labels to multiply, or None."""
        table = cost_table(self.loss, classes)
        if table is None:
            return cost, None
        factors, table = factored(table)
        return cost * factors[labels], table

    def _targets(self, checked, facts):
        """Return labels, costs, which nodes have a label, and weights of graphs."""
        graphs, known, labelled = checked.data, checked.known, ~checked.known.ignored
        labels = facts.labels.renumber(known.classes, known.labels) * labelled
        sums = facts.n_labelled, facts.labels.counts
        given = len(facts.labels.values), self._areas(graphs), graphs.n_nodes
        cost = node_costs(self._loss_kind(), labels, labelled, *given, sums)
        share = facts.weights.block_weights(len(graphs), checked.weight)
        return labels, cost, labelled, share

    def _task(self, problem, model, facts, completion=None, **others):
        """Return the `TrainingTask` of a problem; `others` are further fitted attributes."""
        shared = {
            "classes_": facts.labels.values,
            "n_features_in_": facts.n_features,
            "n_edge_features_in_": facts.n_edge_features,
            "pairwise_form_": self.pairwise_form,
            "predicts_pixels_": facts.labels_of == "pixels",
        }
        lam = default_lam(facts.scale, self._loss_kind())
        to_attributes = GraphWeights(model.layout, shared | others, form=self.pairwise_form)
        return TrainingTask(problem, lam, to_attributes, completion=completion)

    def predict(self, X, known=None):
        """Return labels of each graph.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.
        known : sequence of n_samples items, default=None
            What is known of the labels of the nodes: for each graph None, a boolean array
            (V_i, n_classes) that says which labels are possible, or a sequence (V_i,) of labels,
            sets of labels of which one is right, and None for nodes of which nothing is known.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of labels: of shape (V_i,), of the nodes, or (H_i, W_i), of
            the pixels, if the model was fitted to such. The best labelling that is possible, or
            one that is nearly so.
        """
        labels = self._labels_of_single(X) if known is None else None
        if labels is not None:
            return object_array([labels])
        found, graphs = self._ask("best", X, known)
        labels = state_labels(self)[found]
        if self.predicts_pixels_:
            return paint(labels, graphs)
        return split(labels, graphs.node_offsets)

    def decision_function(self, X, known=None):
        """Return for each node and label a score of a labelling with that label.

        Where cuts find the best labelling it is the max-marginal, the best score with that label;
        else that of the predicted labelling with this label put in at this node: never more than
        the max-marginal. In both cases the largest number of a row belongs to the predicted label.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.
        known : sequence of n_samples items, default=None
            As in `predict`; what is not possible has -inf.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (V_i, n_classes).
        """
        found, graphs = self._ask("max_marginals", X, known)
        return split(best_of_states(self, found), graphs.node_offsets)

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
        graphs = self._check_inputs(X)
        found = self._bound(graphs, None).node_scores()
        return split(best_of_states(self, found), graphs.node_offsets)

    def _labels_of_single(self, X):
        """Return the labels of a list of one graph that there is a short way for, or None."""
        return None

    def _ask(self, method, X, known):
        """Return what a method of the decoder says of all graphs, and the graphs."""
        decoder, graphs = self._decoder(X, known)
        try:
            return getattr(decoder, method)(), graphs
        except ValueError as error:
            # whose graph it is takes long to find, but once
            for i in range(len(graphs)):
                alone = self._decoder([X[i]], None if known is None else [known[i]])[0]
                try:
                    getattr(alone, method)()
                except ValueError as own:
                    raise ValueError(f"X[{i}]: {own}") from error
            raise

    def _check_inputs(self, X):
        """Return checked graphs that fit the model."""
        check_fitted(self)
        graphs = self._check_graphs(
            X,
            n_features=self.n_features_in_,
            n_edge_features=self.n_edge_features_in_,
            estimator_name=type(self).__name__,
        )
        if self.predicts_pixels_ and graphs.segments is None:
            raise ValueError(
                "the model was fitted to labels of pixels, but X has no segments that say which "
                "pixels belong to a node"
            )
        return graphs

    def _possible(self, graphs, known):
        """Return which labels the nodes of graphs may have, (n_nodes, K); None: all."""
        return check_known(known, graphs.n_nodes, self.classes_)

    def _bound(self, graphs, possible):
        """Return the decoder of checked graphs."""
        model = self._fitted_model()
        given = self.coef_, [model.form.numbers(self.pairwise_)], self.n_jobs, possible
        decoder = model.decoder(graphs, *given)
        if not decoder.request.is_modest():
            check_numbers(self, {"coef_": self.coef_.shape})
        return decoder

    def _decoder(self, X, known=None):
        """Return the decoder of graphs, and the graphs."""
        graphs = self._check_inputs(X)
        return self._bound(graphs, self._possible(graphs, known)), graphs

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
        found = state_labels(self)[decoder.best()]
        if self.predicts_pixels_:
            masks = check_masks(y, graphs, self.ignore_label)
            both = masks, paint(found, graphs)
            truth, found = (np.concatenate([mask.ravel() for mask in some]) for some in both)
            sizes, counts = [mask.size for mask in masks], ~is_ignored(truth, self.ignore_label)
        else:
            truth, counts, masks = node_targets(y, graphs, self.ignore_label)
            if masks is not None:
                told = "y has labels of pixels, but the model was fitted to those of nodes"
                raise ValueError(told)
            sizes = graphs.n_nodes
            if graphs.areas is not None:
                counts = counts * np.concatenate(graphs.areas)
        check_kinds(truth, found, PREDICTS)
        counts = counts * np.repeat(weight, sizes)
        if not counts.sum() > 0:
            raise ValueError("y has no labels that count: all are ignored or have the weight 0")
        return float(np.average(found == truth, weights=counts))


def check_graph_model(estimator):
    """Return the sizes of a fitted model of graphs, or raise ValueError.

    Parameters
    ----------
    estimator : SegmentationModel or GraphTagger
        Fitted.

    Returns
    -------
    sizes : tuple of (int, int, int)
        Numbers of features of nodes and of edges, and of labels, or their hidden states.

    Raises
    ------
    ValueError
        Naming the attribute that does not fit.
    """
    n_states = check_states(estimator, check_labels(estimator))
    sizes = [check_count(estimator, name) for name in ("n_features_in_", "n_edge_features_in_")]
    tables = () if estimator.pairwise_form_ == "potts" else (n_states, n_states)
    # weights of the nodes are looked at with the scores of a request
    check_numbers(estimator, {"coef_": (n_states, sizes[0])}, finite=False)
    check_numbers(estimator, {"pairwise_": (sizes[1], *tables)})
    return (*sizes, n_states)


@dataclass(frozen=True)
class GraphWeights(BlockAttributes):
    """The same of graphs, whose users see tables of all pairs of labels.

    Attributes
    ----------
    form : str, default="potts"
        The form of the pairs.
    """

    form: str = "potts"

    @property
    def pairs(self):
        """The form as an object."""
        return form_of(self.layout.shapes["coef"][0], FORMS[self.form])

    def __call__(self, w):
        """Return fitted attributes by name, of flat weights; their arrays are their own."""
        fitted = super().__call__(w)
        return fitted | {"pairwise_": self.pairs.tables(fitted["pairwise_"])}

    def weight_shapes(self):
        """Return the shapes of the weights by the names of their attributes."""
        weights = self(np.zeros(self.layout.n_weights))
        return {name: weights[name].shape for name in ("coef_", "pairwise_")}

    def flat(self, weights):
        """Return the flat weights of arrays of these shapes; tables must be of the form."""
        tables = weights["pairwise_"]
        numbers = self.pairs.numbers(tables)
        if not np.array_equal(self.pairs.tables(numbers), tables):
            raise ValueError("prior['pairwise_'] must have symmetric tables, as this model has")
        return self.layout.join({"coef": weights["coef_"], "pairwise": numbers})
