"""What the estimators of graphs share: the gate, and what it says of all data."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils._param_validation import StrOptions

from sskit.estimators.base.estimator import StructuredEstimator, TrainingTask
from sskit.estimators.base.facts import Labels, RowFacts, TrainingData, same
from sskit.estimators.base.partial_labels import PartialLabels
from sskit.estimators.graph.prediction import GraphWeights, SegmenterMixin
from sskit.estimators.reasons.columns import Columns
from sskit.estimators.reasons.weights import WeightsFrameMixin
from sskit.inputs.costs import cost_table, factored
from sskit.inputs.graphs import check_graphs
from sskit.inputs.masks import node_targets
from sskit.inputs.weights import check_sample_weight
from sskit.models.graph.data import (
    check_edge_features,
    default_lam,
    node_costs,
    node_scale,
    node_sums,
)


@dataclass(frozen=True, kw_only=True)
class GraphFacts(RowFacts):
    """What graphs say of all data; the counts of labels are weights of nodes."""

    n_edge_features: int = same("X has {} edge features, but part {} has {}")
    labels_of: str = same("y has labels of {}, but part {} has labels of {}")
    n_labelled: int


class GraphEstimator(WeightsFrameMixin, SegmenterMixin, StructuredEstimator):
    """Base of the estimators that label the nodes of graphs.

    A subclass has the parameters `loss`, `node_weights` and `ignore_label`.
    """

    _facts = GraphFacts
    _with_kinds = False  # may nodes have kinds?
    _parameter_constraints = {
        "loss": [StrOptions({"hamming", "hamming_sum", "balanced"}), "array-like", dict],
        "node_weights": [StrOptions({"areas"}), None],
        "ignore_label": "no_validation",
    }

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
