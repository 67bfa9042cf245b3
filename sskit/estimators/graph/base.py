"""Base of the estimators of graphs: validation, summary, and prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sskit._labels import is_ignored, object_array
from sskit._parameters import parameter, parameters
from sskit._types import ArrayLike, Dictionary, Samples
from sskit.estimators.base.fitted_state import (
    check_count,
    check_fitted,
    check_labels,
    check_numbers,
)
from sskit.estimators.base.objective import CostOptions
from sskit.estimators.base.predictions import check_modest
from sskit.estimators.base.task import BlockAttributes, TrainingTask
from sskit.estimators.completion.hidden import HiddenNodes, settings_of
from sskit.estimators.completion.states import (
    best_of_states,
    fitted_states,
    known_states,
    resolve_states,
    state_labels,
)
from sskit.estimators.online import OnlineEstimator, check_as_before, check_kinds_as_before
from sskit.estimators.reading.summary import RowSummary, TrainingData, same
from sskit.inputs.graphs import check_allowed_pairs, check_graphs, check_known_of_kinds
from sskit.inputs.labels.counted import Labels
from sskit.inputs.labels.targets import NodeLabels
from sskit.inputs.masks import known_nodes, node_targets, paint
from sskit.inputs.ragged import PREDICTS, check_kinds
from sskit.inputs.ragged_array import split
from sskit.inputs.weights import check_sample_weight, cost_table, factored
from sskit.models.graph.data import (
    check_edge_features,
    default_lam,
    losses_by_callable,
    node_costs,
    node_scale,
    node_sums,
)
from sskit.models.graph.model import FORMS, form_of, import_cuts


@dataclass(frozen=True, kw_only=True)
class GraphSummary(RowSummary):
    """The summary of graphs; the counts of labels are weights of nodes."""

    n_edge_features: int = same("X has {} edge features, but part {} has {}")
    labels_of: str = same("y has labels of {}, but part {} has labels of {}")
    n_labelled: int
    kinds: Labels | None
    kind_labels: frozenset | None

    def mask(self):
        """Return which labels nodes of each kind may have, (n_kinds, K), None without kinds."""
        if self.kinds is None:
            return None
        rows, columns = self.kinds.values.tolist(), self.labels.values.tolist()
        return np.array([[(a, b) in self.kind_labels for b in columns] for a in rows], dtype=bool)


@dataclass(frozen=True, kw_only=True)
class GraphOptions(CostOptions):
    """The options of a fit to graphs.

    Attributes
    ----------
    model : GraphModel or AttractiveModel
        What is bound to the data.
    """

    model: object


class FittedGraphs:
    """Types of the attributes that a fitted `GraphEstimator` has."""

    pairwise_: np.ndarray
    classes_: np.ndarray
    predicts_pixels_: bool
    n_edge_features_in_: int


@parameters
class GraphEstimator(FittedGraphs, OnlineEstimator):
    """Base of the estimators that label the nodes of graphs.

    A subclass has the ``_kind`` of its models, and the parameters `pairwise_form` and
    `inference`.
    """

    _labels_parts = True
    _type_of_estimator = "graph_labeller"
    _rule_of_lam = "4 R^2 / n, times the mean number of nodes if the loss is a fraction"
    _with_kinds = False  # may nodes have kinds?
    n_states_per_label, allowed_pairs = 1, None  # where they are no parameters
    loss: Literal["hamming", "hamming_sum", "balanced"] | ArrayLike | Dictionary = parameter(
        "array-like", dict, default="hamming_sum"
    )
    node_weights: Literal["areas"] | None = parameter(None, default=None)
    ignore_label: object = parameter(default=None)

    def _read_data(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        graphs = check_graphs(X, with_kinds=self._with_kinds)
        target, labelled, masks = node_targets(y, graphs, self.ignore_label)
        weight = check_sample_weight(sample_weight, len(graphs), part=part)
        if self.node_weights == "areas" and graphs.areas is None:
            raise ValueError("node_weights='areas' needs graphs with areas, which X has not")
        check_edge_features(graphs.edge_features)
        # refuses features that are too large, whatever lam
        scale = node_scale(graphs.features, weight, graphs.n_nodes)
        kinds, pairs = graphs.node_kinds, None
        if kinds is not None:
            pairs = zip(kinds[labelled].tolist(), target[labelled].tolist(), strict=True)
            kinds, pairs = Labels(*np.unique(kinds, return_counts=True)), frozenset(pairs)
        target = NodeLabels.of(target, labelled)
        repeated = None if weight is None else np.repeat(weight, graphs.n_nodes)
        counted = len(target.classes), self._areas(graphs), repeated
        n_labelled, of_class = node_sums(target.codes, labelled, *counted)
        read = {"data": graphs, "weight": weight, "columns": {}}
        summary = GraphSummary.of_rows(
            **read,
            labels=Labels(target.classes, of_class),
            scale=scale,
            n_edge_features=graphs.n_edge_features,
            labels_of="nodes" if masks is None else "pixels",
            n_labelled=n_labelled,
            kinds=kinds,
            kind_labels=pairs,
        )
        return TrainingData(**read, target=target, summary=summary)

    def _decide(self, summary, options, checked):
        """Return the summary of all data with all options; see `StructuredEstimator._agree`."""
        if not summary.n_labelled:
            raise ValueError(f"y has no labels but ignore_label={self.ignore_label!r}")
        classes = summary.labels.values
        states = resolve_states(self.n_states_per_label, classes, summary.n_labelled, "nodes")
        sizes = summary.n_features, summary.n_edge_features, len(states.labels)
        options = GraphOptions(
            **vars(options),
            states=states,
            model=self._make_model(states, *sizes),
            table=None if callable(self.loss) else cost_table(self.loss, classes),
        )
        return replace(summary, options=options)

    def _running(self, summary, last):
        """Return the summary of a further step; arguments as of the base class."""
        kinds, before = last.get("node_kinds_"), "pixels" if last["predicts_pixels_"] else "nodes"
        sentence = "y has labels of {}, but those of the steps before were of {}"
        check_as_before(sentence, summary.labels_of, before)
        check_kinds_as_before(summary.kinds, kinds, "nodes")
        if kinds is None:
            return summary
        # labels that a kind has had stay possible
        rows, columns = kinds.tolist(), last["classes_"].tolist()
        pairs = {(rows[a], columns[b]) for a, b in np.argwhere(last["kind_classes_"]).tolist()}
        kinds = summary.kinds.among(kinds)
        return replace(summary, kinds=kinds, kind_labels=summary.kind_labels | pairs)

    def _areas(self, graphs):
        """Return the weights of nodes, None for ones."""
        return np.concatenate(graphs.areas) if self.node_weights == "areas" else None

    def _make_model(self, states, *sizes, form=None, inference=None):
        """Return a model of hidden states of labels, None: one each; as fitted, or to be."""
        n_labels = sizes[-1] if states is None else len(states.counts)
        allowed = check_allowed_pairs(self.allowed_pairs, n_labels)
        if states is not None:
            allowed = states.of_pairs(allowed)
        pairs = () if allowed is None else (allowed,)
        return self._kind(*sizes, form or self.pairwise_form, inference or self.inference, *pairs)

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        graphs, target, options = checked.data, checked.target, summary.options
        labelled, model, states = target.labelled, options.model, options.states
        classes, kinds, mask, losses = summary.labels.values, summary.kinds, summary.mask(), {}
        loss = self.loss if isinstance(self.loss, str) else "hamming_sum"
        labels = summary.labels.renumber(target.classes, target.codes) * labelled
        sizes = len(classes), self._areas(graphs), graphs.n_nodes
        sums = summary.n_labelled, summary.labels.counts
        cost = node_costs(loss, labels, labelled, *sizes, sums)
        if callable(self.loss):
            offsets = graphs.node_offsets
            table = losses_by_callable(self.loss, labels, labelled, classes, offsets)
            losses = {"table": table.take(states.labels, axis=1), "by_node": True}
        elif options.table is not None:
            factors, table = factored(options.table)
            cost, losses["table"] = cost * factors[labels], states.of_pairs(table)
        if mask is not None:
            losses["allowed"] = mask[graphs.node_codes(kinds.values)][:, states.labels]
        truth = states.first[labels]
        model.check_pairs(graphs, truth, labelled, classes[states.labels])
        bound = {"cost": cost, "labelled": labelled}
        bound["block_weight"] = summary.block_weights(len(graphs), checked.weight)
        problem = model.bind(graphs, truth, **bound, **losses)
        shared = {
            "n_edge_features_in_": summary.n_edge_features,
            "pairwise_form_": self.pairwise_form,
            "predicts_pixels_": summary.labels_of == "pixels",
        }
        if self._with_kinds:
            shared["node_kinds_"] = None if kinds is None else kinds.values
            shared["kind_classes_"] = mask
        else:  # of all graphs the same
            shared["inference_"] = model.inference
        completion = None
        if states.hidden:
            partial = states.known(labels, None)
            partial.possible[~labelled] = np.arange(len(states.labels)) == 0
            bound |= {"data": graphs.without_edges(labelled), "states": states}
            completion = HiddenNodes(model=model, partial=partial, **bound, **settings_of(self))
            shared["n_states_"] = states.counts
            completion.mark_right(problem)
        to_attributes = GraphWeights(model.layout, shared, form=self.pairwise_form)
        lam = default_lam(summary.scale, loss)
        return TrainingTask(problem, lam, to_attributes, completion=completion)

    def predict(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return labels of each graph.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.
        known : sequence of n_samples items, default=None
            Known labels of the nodes: for each graph None, a boolean array (V_i, n_classes) of
            possible labels, or a sequence (V_i,) of labels, sets of labels one of which is right,
            and None for unknown ones. Of graphs with segments also an array (H_i, W_i) of labels
            of the pixels, unknown where it has None or `ignore_label`: a node gets the label that
            most of its known pixels have.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of labels: of shape (V_i,), of the nodes, or (H_i, W_i), of the
            pixels, if the model was fitted to labels of pixels. They are the best possible
            labelling, or nearly so.
        """
        labels = self._labels_of_single(X) if known is None else None
        if labels is not None:
            return object_array([labels])
        states, graphs = self._ask("best", X, known)
        labels = state_labels(self)[states]
        if self.predicts_pixels_:
            return paint(labels, graphs)
        return split(labels, graphs.node_offsets)

    def decision_function(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return for each node and label a score of a labelling with that label.

        If cuts find the best labelling it is the max-marginal, the best score with that label;
        else it is the score of the predicted labelling with this label at this node, which is at
        most the max-marginal. In both cases the largest number of a row belongs to the predicted
        label.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.
        known : sequence of n_samples items, default=None
            As in `predict`; scores of labels that are not possible are -inf.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (V_i, n_classes).
        """
        scores, graphs = self._ask("max_marginals", X, known)
        return split(best_of_states(self, scores), graphs.node_offsets)

    def node_scores(self, X: Samples) -> np.ndarray:
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
        scores, graphs = self._ask("node_scores", X)
        return split(best_of_states(self, scores), graphs.node_offsets)

    def _labels_of_single(self, X):
        """Return the labels of a list of one graph that there is a short way for, or None."""
        return None

    def _ask(self, method, X, known=None):
        """Return the result of a method of the decoder for all graphs, and the graphs."""
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
        sizes = {"n_features": self.n_features_in_, "n_edge_features": self.n_edge_features_in_}
        options = {"with_kinds": self._with_kinds, "estimator_name": type(self).__name__}
        graphs = check_graphs(X, **sizes, **options)
        if self.predicts_pixels_ and graphs.segments is None:
            raise ValueError(
                "the model was fitted to labels of pixels, but X has no segments that say which "
                "pixels belong to a node"
            )
        return graphs

    def _make_ready(self):
        """Import what cuts graphs, too."""
        super()._make_ready()
        import_cuts(vars(self).get("inference_"))

    def _fitted_model(self):
        """Return the model of the fitted weights, or raise ValueError if they do not fit."""
        check_fitted(self)
        (n_states, states), fitted = fitted_states(self), vars(self)
        sizes = [check_count(self, name) for name in ("n_features_in_", "n_edge_features_in_")]
        tables = () if self.pairwise_form_ == "potts" else (n_states, n_states)
        # weights of the nodes are looked at with the scores of a request
        check_numbers(self, {"coef_": (n_states, sizes[0])}, finite=False)
        check_numbers(self, {"pairwise_": (sizes[1], *tables)})
        if fitted.get("node_kinds_") is not None:
            shape = check_labels(self, "node_kinds_", least=0), len(self.classes_)
            check_numbers(self, {"kind_classes_": shape})
        choices = {"form": self.pairwise_form_, "inference": fitted.get("inference_")}
        return self._make_model(states, *sizes, n_states, **choices)

    def _decoder(self, X, known=None):
        """Return the decoder of graphs, and the graphs."""
        model, graphs = self._fitted_model(), self._check_inputs(X)
        _, states = fitted_states(self)
        known = known_nodes(known, graphs, self.classes_, self.ignore_label)
        possible = known_states(self, states, known, graphs.n_nodes)
        codes = graphs.node_codes(vars(self).get("node_kinds_"))
        if codes is not None:
            of_kind = self.kind_classes_.astype(bool)[codes]
            of_kind = of_kind if states is None else of_kind[:, states.labels]
            possible = check_known_of_kinds(possible, of_kind, graphs)
        others = [model.form.numbers(self.pairwise_)]
        decoder = model.decoder(graphs, self.coef_, others, self.n_jobs, possible)
        check_modest(self, decoder.request)
        return decoder, graphs

    def score(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> float:
        """Return the fraction of nodes (by area if there are areas) or pixels labelled right.

        Each mistake counts the same, whatever `loss`.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.
        y : sequence of n_samples arrays (V_i,) or (H_i, W_i)
            True labels, of pixels if the model was fitted to labels of pixels. `ignore_label` does
            not count.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the graphs; each counts for all of its nodes or pixels.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        decoder, graphs = self._decoder(X)
        weight = check_sample_weight(1.0 if sample_weight is None else sample_weight, len(graphs))
        predicted = state_labels(self)[decoder.best()]
        truth, counts, masks = node_targets(y, graphs, self.ignore_label)
        if (masks is not None) != self.predicts_pixels_:
            kind = "pixels" if self.predicts_pixels_ else "nodes"
            raise ValueError(f"the model was fitted to labels of {kind}, but y has others")
        sizes = graphs.n_nodes
        if masks is not None:
            both = masks, paint(predicted, graphs)
            truth, predicted = (np.concatenate([mask.ravel() for mask in some]) for some in both)
            sizes, counts = [mask.size for mask in masks], ~is_ignored(truth, self.ignore_label)
        elif graphs.areas is not None:
            counts = counts * np.concatenate(graphs.areas)
        check_kinds(truth, predicted, PREDICTS)
        counts = counts * np.repeat(weight, sizes)
        if not counts.sum() > 0:
            raise ValueError("y has no labels that count: all are ignored or have the weight 0")
        return float(np.average(predicted == truth, weights=counts))


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
        """Return fitted attributes by name, of flat weights, as that of the base class."""
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
