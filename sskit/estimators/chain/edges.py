"""What SequenceTagger fits and predicts where edges have features."""

from dataclasses import dataclass

import numpy as np

from sskit.estimators.base.facts import RowFacts, same
from sskit.estimators.base.fitted_state import check_count
from sskit.estimators.base.kernels import is_kernel
from sskit.estimators.reasons.column_names import check_columns, edge_column_names
from sskit.inputs.chains.gate import stack_pairs
from sskit.models.chain.model import edge_scale

__all__ = [
    "ChainFacts",
    "EdgeWeightsMixin",
    "edge_attributes",
    "fitted_pairs",
    "names_of_edges",
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


def edge_attributes(facts):
    """Return the fitted attributes of features of edges, none if there are no such features."""
    if facts.n_edge_features is None:
        return {}
    attributes = {"n_edge_features_in_": facts.n_edge_features}
    if facts.edge_feature_names is not None:
        attributes["edge_feature_names_in_"] = np.array(facts.edge_feature_names, dtype=object)
    return attributes


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
