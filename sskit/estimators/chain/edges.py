"""What SequenceTagger fits and predicts where edges have features."""

from dataclasses import dataclass

import numpy as np

from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.facts import RowFacts, same
from sskit.estimators.base.fitted_state import check_count, check_numbers
from sskit.estimators.base.kernels import is_kernel
from sskit.estimators.base.tagging import check_modest
from sskit.estimators.reasons.column_names import check_columns, edge_column_names
from sskit.inputs.chains.gate import stack_pairs
from sskit.models.chain.model import default_lam
from sskit.models.chain.request import ChainDecoder
from sskit.models.edge_chain.model import EdgeChainModel, edge_scale, make_edge_request

__all__ = [
    "ChainFacts",
    "EdgeWeightsMixin",
    "bind_with_edges",
    "edge_decoder",
    "fitted_pairs",
    "names_of_edges",
    "refuse_edges",
    "scale_with_edges",
]


@dataclass(frozen=True, kw_only=True)
class ChainFacts(RowFacts):
    """What sequences say of all data."""

    n_edge_features: int | None = same(
        "the number of edge features of X is {}, but that of part {} is {}"
    )
    edge_feature_names: tuple | None = same(
        "the edge features of X are {}, but those of part {} are {}"
    )


class EdgeWeightsMixin:
    """The weights of the features of edges of a fitted tagger.

    They are kept feature by feature, as prediction reads them, in files too: ``_edge_tables_`` of
    shape (n_edge_features, n_classes, n_classes).
    """

    @property
    def edge_coef_(self):
        """Weights of the features of edges, (n_classes, n_classes, n_edge_features)."""
        tables = vars(self).get("_edge_tables_")
        if tables is None:
            raise AttributeError(
                f"this {type(self).__name__} has no attribute 'edge_coef_': it is not fitted to "
                "pairs (features, edge_features)"
            )
        return np.moveaxis(tables, 0, -1)

    @edge_coef_.setter
    def edge_coef_(self, coef):
        self._edge_tables_ = np.ascontiguousarray(np.moveaxis(np.asarray(coef), -1, 0))


def scale_with_edges(estimator, stacked, edges, weight, scale):
    """Return how large features of tokens and edges are, or raise ValueError for kernels.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters.
    stacked : RaggedArray
        Features of the tokens.
    edges : matrix of shape (n_edges, q)
        Features of the edges.
    weight : ndarray of shape (n,) or None
        Sample weights.
    scale : FeatureScale or None
        Of the tokens; None in a kernel space.

    Returns
    -------
    scale : FeatureScale
        Of both.
    """
    if is_kernel(estimator):
        raise ValueError(
            "features of edges need kernel='linear': in a kernel space transitions have no features"
        )
    return edge_scale(stacked, edges, weight, scale, estimator.n_jobs)


def names_of_edges(X, edges):
    """Return the names of the features of edges in data as users give them, a tuple, or None."""
    names = None if edges is None else edge_column_names(X)
    return None if names is None else tuple(names)


def refuse_edges(edges, what):
    """Raise ValueError if edges have features where they cannot have any."""
    if edges is not None:
        raise ValueError(f"features of edges cannot be used with {what}: give matrices, not pairs")


def bind_with_edges(estimator, facts, given, edges, allowed, shared):
    """Bind a chain model with features of edges to checked training data.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters; not changed.
    facts : ChainFacts
        Of all data.
    given : tuple
        Sequences, labels, costs of tokens and weights of blocks, as `ChainModel.bind` takes them.
    edges : matrix of shape (n_edges, q)
        Features of the edges.
    allowed : tuple
        Transitions, first labels and last labels that training allows.
    shared : dict
        Fitted attributes that do not depend on the weights.

    Returns
    -------
    task : TrainingTask
        What solvers take, and what their weights mean.
    """
    classes, n_edge_features = facts.labels.values, facts.n_edge_features
    model = EdgeChainModel(facts.n_features, n_edge_features, len(classes), *allowed)
    problem = model.bind(*given, n_jobs=estimator.n_jobs, edges=edges)
    shared = shared | {"n_edge_features_in_": n_edge_features}
    if facts.edge_feature_names is not None:
        shared["edge_feature_names_in_"] = np.array(facts.edge_feature_names, dtype=object)
    to_attributes = BlockAttributes(model.layout, shared)
    return TrainingTask(problem, model.layout, default_lam(facts.scale), to_attributes, classes)


def fitted_pairs(estimator, X):
    """Return sequences to predict, checked, and the features of their edges.

    Parameters
    ----------
    estimator : SequenceTagger
        Fitted.
    X : object
        As users give it.

    Returns
    -------
    stacked : RaggedArray
        Features of the tokens.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges; None if the estimator was fitted without.

    Raises
    ------
    ValueError
        If X is wrong, or has features of edges where the training data had none, or the other way.
    """
    n_edge_features, name = vars(estimator).get("n_edge_features_in_"), type(estimator).__name__
    if n_edge_features is not None:
        check_count(estimator, "n_edge_features_in_")
    stacked, edges = stack_pairs(
        X,
        n_features=estimator.n_features_in_,
        n_edge_features=n_edge_features,
        estimator_name=name,
        allow_empty=True,
    )
    names = vars(estimator).get("edge_feature_names_in_")
    if names is not None:
        check_columns(edge_column_names(X), names, name, "the edge features of X")
    if (edges is None) != (n_edge_features is None):
        has, fitted = ("no", "with") if edges is None else ("", "without")
        raise ValueError(
            f"X has {has + ' ' if has else ''}features of edges, but this {name} was fitted "
            f"{fitted} them"
        )
    return stacked, edges


def edge_decoder(estimator, stacked, edges, coef, others, rules, possible):
    """Return the decoder of checked sequences with features of edges.

    Parameters
    ----------
    estimator : SequenceTagger
        Fitted.
    stacked, coef, rules, possible : object
        As of `make_request`.
    edges : matrix of shape (n_edges, q)
        Features of the edges.
    others : tuple
        Weights of transitions, first and last labels.

    Returns
    -------
    decoder : ChainDecoder
        Gives labellings.

    Raises
    ------
    ValueError
        Naming an attribute that does not fit, or if scores may overflow.
    """
    n_classes = len(coef)
    shape = {"_edge_tables_": (estimator.n_edge_features_in_, n_classes, n_classes)}
    check_numbers(estimator, shape, finite=False)
    tables = estimator._edge_tables_
    request = make_edge_request(stacked, edges, tables, coef, *others, rules, possible)
    check_modest(estimator, request, ("coef_", "_edge_tables_"))
    return ChainDecoder(request, estimator.n_jobs, estimator.beam_size)
