"""The linear chain model whose transitions have features."""

import numpy as np

from sskit.inputs.stacking import refuse_large
from sskit.models.chain.model import ChainModel, make_features
from sskit.models.chain.request import ChainDecoder
from sskit.models.edge_chain.problem import EdgeChainProblem, EdgeChainRequest
from sskit.models.features import FeatureRows, squared_norms
from sskit.models.layout import WeightLayout


class EdgeChainModel(ChainModel):
    """A chain model with features of edges.

    score(x, y) = that of `ChainModel` + sum_t <edge_coef[y_{t-1}, y_t], z_t>

    Parameters
    ----------
    n_features : int
        Number of features p of a token.
    n_edge_features : int
        Number of features q of an edge, from a token to the next one.
    n_states : int
        Number of labels K.
    allowed, allowed_start, allowed_end : ndarray or None
        As of `ChainModel`.
    """

    def __init__(
        self,
        n_features,
        n_edge_features,
        n_states,
        allowed=None,
        allowed_start=None,
        allowed_end=None,
    ):
        super().__init__(n_features, n_states, allowed, allowed_start, allowed_end)
        edge_coef = (n_states, n_states, n_edge_features)
        self.layout = WeightLayout(**self.layout.shapes, edge_coef=edge_coef)
        self.edges = None

    def bind(self, stacked, labels, cost, block_weight, n_jobs=None, *, edges):
        """Bind the model to training data.

        Parameters
        ----------
        stacked, labels, cost, block_weight, n_jobs : object
            As of `ChainModel.bind`.
        edges : matrix of shape (n_tokens - n, q)
            Features of the edges of all sequences.

        Returns
        -------
        problem : EdgeChainProblem
            What solvers take.
        """
        self.edges = edges
        return super().bind(stacked, labels, cost, block_weight, n_jobs)

    def _problem(self, stacked, labels, cost, block_weight, n_jobs):
        return EdgeChainProblem(
            FeatureRows(stacked.values, n_jobs=n_jobs),
            np.ascontiguousarray(stacked.offsets, dtype=np.int64),
            self.n_states,
            labels,
            cost,
            block_weight,
            self.allowed,
            self.allowed_start,
            self.allowed_end,
            edge_rows(self.edges, n_jobs),
        )

    def decoder(self, stacked, w, n_jobs=None, beam_size=None, *, edges):
        """Bind the model to sequences that are to be labelled.

        Parameters
        ----------
        stacked, w, n_jobs, beam_size : object
            As of `ChainModel.decoder`.
        edges : matrix of shape (n_tokens - n, q)
            Features of the edges of all sequences.

        Returns
        -------
        decoder : ChainDecoder
            Gives labellings.
        """
        blocks = self.layout.split(w)
        tables = np.moveaxis(blocks.pop("edge_coef"), -1, 0)
        rules = self.allowed, self.allowed_start, self.allowed_end
        request = make_edge_request(stacked, edges, tables, **blocks, rules=rules)
        return ChainDecoder(request, n_jobs, beam_size)


def make_edge_request(
    stacked, edges, tables, coef, transitions, start, end, rules=(None,) * 3, possible=None
):
    """Return sequences with the weights that are to label them, which are not checked.

    Parameters
    ----------
    stacked, coef, transitions, start, end, rules, possible : object
        As of `make_request`.
    edges : matrix of shape (n_tokens - n, q)
        Features of the edges of all sequences.
    tables : ndarray of shape (q, K, K)
        Weights of their features; those of features that do not occur are not read.

    Returns
    -------
    request : EdgeChainRequest
        What a `ChainDecoder` takes.
    """
    weights = [np.asarray(array, dtype=np.float64) for array in (transitions, start, end)]
    features = make_features(stacked, coef, possible)
    tables = np.ascontiguousarray(tables, dtype=np.float64).reshape(len(tables), -1)
    return EdgeChainRequest(features, stacked.offsets, *weights, *rules, edge_rows(edges), tables)


def edge_rows(edges, n_jobs=None):
    """Return the `FeatureRows` of the features of edges, of which there may be none."""
    return FeatureRows(edges, sparsify=edges.shape[0] > 0, n_jobs=n_jobs)


def edge_scale(stacked, edges, weight, scale, n_jobs=None):
    """Return how large the features of tokens and edges are together.

    Parameters
    ----------
    stacked : RaggedArray
        Features of the sequences.
    edges : matrix of shape (n_tokens - n, q)
        Features of the edges.
    weight : ndarray of shape (n,) or None
        Sample weights.
    scale : FeatureScale
        Of the tokens.
    n_jobs : int, default=None
        Number of threads.

    Returns
    -------
    scale : FeatureScale
        Squares of both, by token.

    Raises
    ------
    ValueError
        If squares of the features of edges overflow.
    """
    lengths = stacked.lengths - 1
    sqnorm = squared_norms(edges, n_jobs)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduceat(np.append(sqnorm, 0.0), np.append(0, np.cumsum(lengths[:-1])))
        total[lengths == 0] = 0.0
        squares = np.dot(np.ones(len(total)) if weight is None else weight, total)
    if not np.isfinite(total).all():
        refuse_large(total, what="the edge features in")
    return scale + type(scale)(squares, 0.0, 0.0)
