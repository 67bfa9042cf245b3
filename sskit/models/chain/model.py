"""The linear chain model."""

from copy import copy

import numpy as np

from sskit.inputs.stacking import FeatureScale, check_squares
from sskit.models.chain.structure import ChainStructure
from sskit.models.feature_map import FeatureMap, padded_columns
from sskit.models.features import FeatureRows, end_marks, no_features, squared_norms, take_weights
from sskit.models.kernel.rows import KernelExpansion, prepare_kernels
from sskit.models.kernel.space import KernelSupport, diagonal, kernel_rows, runs_within
from sskit.models.layout import WeightLayout
from sskit.models.request import Decoder, Request, gather
from sskit.models.structure import NodeLoss, StructuredProblem

# Statistics are numbered by int32.
MOST_STATISTICS = 2**31 - 1

# Allowed transitions, first labels and last labels: all are.
NO_RULES = (None, None, None)


class ChainModel:
    r"""A label for every token of a sequence, scored by tokens and a few labels in a row.

    score(x, y) = sum_t <coef[y_t], x_t> + sum_t transitions[y_{t-1}, y_t] + start[y_1] + end[y_T]

    and, where edges have features, + sum_t <edge_coef[:, y_{t-1}, y_t], z_t>; where the order is 2,
    + sum_{t > 2} triples[y_{t-2}, y_{t-1}, y_t].

    Parameters
    ----------
    n_features : int
        Number of features p of a token.
    n_states : int
        Number of labels K.
    *rules : ndarray
        Allowed transitions (K, K), from row to column, and which labels (K,) a sequence may begin
        and end with, bool; None, or none of the three, allows all.
    order : {1, 2}, default=1
        2: three labels in a row have weights too.
    n_edge_features : int, default=None
        Number of features q of an edge, from a token to the next one; None: they have none.
    """

    def __init__(self, n_features, n_states, *rules, order=1, n_edge_features=None):
        self.n_states, self.order = n_states, order
        self.rules = rules or NO_RULES
        shapes = {
            "coef": (n_states, n_features),
            "transitions": (n_states, n_states),
            "start": (n_states,),
            "end": (n_states,),
        }
        if n_edge_features is not None:
            shapes["edge_coef"] = (n_edge_features, n_states, n_states)
        if order == 2:
            shapes["triples"] = (n_states,) * 3
        self.layout = WeightLayout(**shapes)

    def without_ends(self):
        """Return the same model for stretches of sequences, which may begin and end with any."""
        other = copy(self)
        allowed = self.rules[0]
        ends = None if allowed is None else np.ones(self.n_states, dtype=bool)
        other.rules = allowed, ends, ends
        return other

    def bind(self, data, labels, cost, block_weight, *, edges=None, **loss_options):
        """Bind the model to training data.

        Parameters
        ----------
        data : RaggedArray
            Features of the sequences.
        labels : ndarray of shape (n_tokens,)
            True labels, 0 to K - 1.
        cost : ndarray of shape (n_tokens,)
            Loss of a wrong label at each token.
        block_weight : ndarray of shape (n,)
            Weights of the sequences, summing to one.
        edges : matrix of shape (n_tokens - n, q), default=None
            Features of the edges of all sequences.
        **loss_options : ndarray
            Further arguments of `NodeLoss`: table, right.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        offsets = np.ascontiguousarray(data.offsets, dtype=np.int64)
        rows = FeatureRows(data.values, marks=end_marks(offsets))
        edges = None if edges is None else edge_rows(edges)
        map = chain_map(rows, offsets, self.n_states, self.rules, edges, self.order)
        map.prepare()
        loss = NodeLoss(labels.astype(np.int32), cost, self.n_states, **loss_options)
        return StructuredProblem(map, ChainStructure(map), loss, block_weight)

    def decoder(self, stacked, w, n_jobs=None, beam_size=None, *, edges=None, possible=None):
        """Bind the model to sequences that are to be labelled.

        Parameters
        ----------
        stacked : RaggedArray
            Features of the sequences.
        w : ndarray of shape (n_weights,)
            Flat weights.
        n_jobs : int, default=None
            Number of threads.
        beam_size : int, default=None
            Number of labels that are kept at each token; None keeps all.
        edges : matrix of shape (n_tokens - n, q), default=None
            Features of the edges of all sequences.
        possible : ndarray of shape (n_tokens, K), bool, default=None
            Labels that are possible at each token; None means all.

        Returns
        -------
        decoder : Decoder
            Gives labellings.
        """
        options = {"rules": self.rules, "possible": possible, "beam_size": beam_size}
        request = make_request(stacked, self.layout.split(w), edges=edges, **options)
        return Decoder(request, n_jobs)


class KernelChainModel(ChainModel):
    """A label for every token, scored by functions of a kernel space, and by pairs of neighbours.

    score(x, y) = sum_t f_{y_t}(x_t) + sum_t transitions[y_{t-1}, y_t] + start[y_1] + end[y_T]

    Parameters
    ----------
    kernel : Kernel
        The kernel of two tokens.
    n_rows : int
        Number of training tokens.
    n_states : int
        Number of labels K.
    n_bytes : float
        Memory for kernel rows.
    *rules : ndarray
        As of `ChainModel`.
    """

    def __init__(self, kernel, n_rows, n_states, n_bytes, *rules):
        self.kernel, self.n_states, self.n_bytes, self.order = kernel, n_states, n_bytes, 1
        self.rules = rules or NO_RULES
        linear = {"transitions": (n_states, n_states), "start": (n_states,), "end": (n_states,)}
        functions = dict.fromkeys(("values", "dual_coef"), (n_states, n_rows))
        self.layout = WeightLayout(**linear, **functions)

    def bind(self, data, labels, cost, block_weight, **loss_options):
        """Bind the model to training data.

        Parameters
        ----------
        data : RaggedArray
            Features of the sequences, float64, or kernels with all training tokens.
        labels, cost, block_weight, **loss_options : object
            As of `ChainModel.bind`; edges have no features.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        X, labels = data.values, labels.astype(np.int32)
        offsets = np.ascontiguousarray(data.offsets, dtype=np.int64)
        rows = no_features(len(labels), end_marks(offsets))
        kernels = kernel_rows(self.kernel, X, self.n_bytes, int(np.diff(offsets).max()))
        support = KernelSupport(self.kernel, X, self.n_states, self.n_states * (self.n_states + 2))
        space = KernelExpansion(kernels, support, offsets, labels)
        map = chain_map(rows, offsets, self.n_states, self.rules, space=space)
        prepare_kernels(kernels, map, runs_within(self.kernel, X, offsets))
        loss = NodeLoss(labels, cost, self.n_states, **loss_options)
        return StructuredProblem(map, ChainStructure(map), loss, block_weight)

    def scale(self, stacked, weight):
        """Return the `FeatureScale` of tokens in the kernel space."""
        return token_scale(stacked, weight, diagonal(self.kernel, stacked.values))


def chain_map(rows, offsets, n_states, rules=NO_RULES, edges=None, order=1, space=None):
    """Return the feature map of chains.

    Parameters
    ----------
    rows : FeatureRows
        Features of all tokens, with the marks of `end_marks`.
    offsets : ndarray of shape (n + 1,), int64
        Where the sequences begin.
    n_states : int
        Number of labels K.
    rules : tuple
        Allowed transitions, first labels and last labels, or None for each.
    edges : FeatureRows, default=None
        Features of the edges.
    order : {1, 2}, default=1
        Of the chain.
    space : FeatureSpace, default=None
        Functions that score tokens.

    Returns
    -------
    map : FeatureMap

    Raises
    ------
    ValueError
        If there are too many statistics.
    """
    allowed, *ends = rules
    first, last = (None if some is None else np.where(some, 0.0, -np.inf) for some in ends)
    pairs = None
    if allowed is not None:
        pairs = np.zeros((n_states, padded_columns(n_states)))
        pairs[:, :n_states][~allowed] = -np.inf
    parts = {"head": (n_states, n_states), "space": space}
    parts |= {"mask": pairs, "first_mask": first, "last_mask": last}
    if edges is not None:
        parts |= {"edges": edges, "edge_offsets": offsets - np.arange(len(offsets))}
    if order == 2:
        parts |= {"tail": (n_states**2, n_states), "triples": True}
    map = FeatureMap(rows, offsets, n_states, **parts)
    if map.max_statistics > MOST_STATISTICS:
        raise ValueError(
            f"{n_states} labels are too many for sequences of {map.longest} tokens: with order=2 "
            "any three of them have a weight, and each edge that has features has a table"
        )
    return map


def check_lengths(lengths, allowed, allowed_start, allowed_end):
    """Raise ValueError if there are sequences without any allowed labelling.

    Parameters
    ----------
    lengths : ndarray of shape (n,)
        Lengths of the sequences.
    allowed : ndarray of shape (K, K), bool, or None
        Allowed transitions; None allows all.
    allowed_start, allowed_end : ndarray of shape (K,), bool, or None
        Labels that a sequence may begin and end with.

    Raises
    ------
    ValueError
        Naming the shortest such length.
    """
    if allowed is None or not len(lengths):
        return
    reached, possible = allowed_start, []
    for _ in range(int(lengths.max())):
        possible.append((reached & allowed_end).any())
        before, reached = reached, allowed[reached].any(axis=0)
        if (reached == before).all():  # all that are longer end like this one
            break
    wrong = lengths[~np.array(possible)[np.minimum(lengths, len(possible)) - 1]]
    if len(wrong):
        raise ValueError(f"transitions allow no labelling of a sequence of length {wrong.min()}")


def make_request(stacked, weights, *, edges=None, rules=NO_RULES, possible=None, beam_size=None):
    """Return the `Request` of sequences and weights, which are not checked.

    Parameters
    ----------
    stacked : RaggedArray
        Features of the sequences.
    weights : dict of ndarray
        Blocks of the layout of a `ChainModel`; weights of features that do not occur are not read.
    edges : matrix of shape (n_tokens - n, q), default=None
        Features of the edges of all sequences.
    rules : tuple
        Allowed transitions, first labels and last labels, or None for each.
    possible : ndarray of shape (n_tokens, K), bool, default=None
        Labels that are possible at each token; None means all.
    beam_size : int, default=None
        Number of labels that are kept at each token; None keeps all.

    Returns
    -------
    request : Request
        What a `Decoder` takes.
    """
    offsets, K = np.ascontiguousarray(stacked.offsets, dtype=np.int64), len(weights["start"])
    rows = FeatureRows(stacked.values, marks=end_marks(offsets))
    others = [weights[name] for name in ("transitions", "start", "end")]
    if edges is not None:
        edges = edge_rows(edges)
        tables = np.ascontiguousarray(weights["edge_coef"], dtype=np.float64).reshape(-1, K * K)
        others.append(take_weights(edges, tables.T))
    if "triples" in weights:
        others.append(weights["triples"])
    flat = gather(rows, weights["coef"], others)
    feature_map = chain_map(rows, offsets, K, rules, edges, 1 + ("triples" in weights))
    return Request(feature_map, ChainStructure(feature_map, beam_size), flat, possible)


def token_scale(stacked, weight, sqnorm=None):
    """Return the `FeatureScale` of tokens.

    Parameters
    ----------
    stacked : RaggedArray
        Features of the sequences.
    weight : ndarray of shape (n,) or None
        Sample weights.
    sqnorm : ndarray of shape (n_tokens,), default=None
        Squared norms of the tokens in a kernel space; None means those of their features.

    Returns
    -------
    scale : FeatureScale
        With the weight of a sequence for each of its tokens.

    Raises
    ------
    ValueError
        If squares of the features overflow.
    """
    sqnorm = squared_norms(stacked.values) if sqnorm is None else sqnorm
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(sqnorm, stacked.offsets[:-1])
    return FeatureScale.of(sums, weight, stacked.lengths)


def edge_rows(edges):
    """Return the `FeatureRows` of the features of edges, of which there may be none."""
    return FeatureRows(edges, sparsify=edges.shape[0] > 0)


def edge_scale(stacked, edges, weight, scale):
    """Return the `FeatureScale` of tokens and edges together.

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

    Returns
    -------
    scale : FeatureScale
        Squares of both, by token.

    Raises
    ------
    ValueError
        If squares of the features of edges overflow.
    """
    owner = np.repeat(np.arange(len(stacked)), stacked.lengths - 1)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.bincount(owner, squared_norms(edges), len(stacked))
        squares = np.dot(np.ones(len(total)) if weight is None else weight, total)
    check_squares(total, "edge features")
    return scale + type(scale)(squares, 0.0, 0.0)
