"""The linear chain model."""

import numpy as np

from sskit.inputs.stacking import FeatureScale
from sskit.inputs.weights import class_factors
from sskit.models.chain.problem import ChainProblem, CountedChainSlack
from sskit.models.chain.request import ChainDecoder, ChainRequest
from sskit.models.counts import are_counts
from sskit.models.features import FeatureRows, PossibleScores, RowScores, squared_norms
from sskit.models.layout import WeightLayout


class ChainModel:
    """A label for every token of a sequence, scored by tokens and pairs of neighbours.

    score(x, y) = sum_t <coef[y_t], x_t> + sum_t transitions[y_{t-1}, y_t] + start[y_1] + end[y_T]

    Parameters
    ----------
    n_features : int
        Number of features p of a token.
    n_states : int
        Number of labels K.
    allowed : ndarray of shape (K, K), bool, default=None
        Allowed transitions, from row to column; None allows all.
    allowed_start, allowed_end : ndarray of shape (K,), bool, default=None
        Labels that a sequence may begin and end with; None allows all.
    """

    def __init__(self, n_features, n_states, allowed=None, allowed_start=None, allowed_end=None):
        self.n_states = n_states
        self.allowed = allowed
        self.allowed_start = allowed_start
        self.allowed_end = allowed_end
        self.layout = WeightLayout(
            coef=(n_states, n_features),
            transitions=(n_states, n_states),
            start=(n_states,),
            end=(n_states,),
        )

    def bind(self, stacked, labels, cost, block_weight, n_jobs=None):
        """Bind the model to training data.

        Parameters
        ----------
        stacked : RaggedArray
            Features of the sequences.
        labels : ndarray of shape (n_tokens,)
            True labels, 0 to K - 1.
        cost : ndarray of shape (n_tokens,)
            Loss of a wrong label at each token.
        block_weight : ndarray of shape (n,)
            Weights of the sequences, summing to one.
        n_jobs : int, default=None
            Number of threads for what is computed of all features now.

        Returns
        -------
        problem : ChainProblem
            What solvers take; it has a slack oracle where the losses allow it.
        """
        problem = self._problem(stacked, labels.astype(np.int32), cost, block_weight, n_jobs)
        if are_counts(cost, stacked.offsets, self.n_states):
            problem.slack_kind = CountedChainSlack
        problem.prepare_steps()
        return problem

    def decoder(self, stacked, w, n_jobs=None, beam_size=None):
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

        Returns
        -------
        decoder : ChainDecoder
            Gives labellings.
        """
        return self.label(stacked, n_jobs, beam_size, **self.layout.split(w))

    def label(self, stacked, n_jobs=None, beam_size=None, possible=None, **blocks):
        """Bind the model to sequences that are to be labelled with these blocks of weights.

        Parameters
        ----------
        stacked, n_jobs, beam_size : object
            As of `decoder`.
        possible : ndarray of shape (n_tokens, K), bool, default=None
            Labels that are possible at each token; None means all.
        **blocks : ndarray
            Weights by the names of the layout.

        Returns
        -------
        decoder : ChainDecoder
            Gives labellings.
        """
        rules = self.allowed, self.allowed_start, self.allowed_end
        request = make_request(stacked, **blocks, rules=rules, possible=possible)
        return ChainDecoder(request, n_jobs, beam_size)

    def _problem(self, stacked, labels, cost, block_weight, n_jobs):
        return ChainProblem(
            FeatureRows(stacked.values, n_jobs=n_jobs),
            np.ascontiguousarray(stacked.offsets, dtype=np.int64),
            self.n_states,
            labels,
            cost,
            block_weight,
            self.allowed,
            self.allowed_start,
            self.allowed_end,
        )


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
    if allowed is None:
        return
    # the sets of labels that are reached repeat themselves from some length on
    reached, place, possible = allowed_start, {}, []
    for _ in range(int(lengths.max())):
        cycle = place.setdefault(reached.tobytes(), len(possible))
        if cycle < len(possible):
            break
        possible.append(bool((reached & allowed_end).any()))
        reached = allowed[reached].any(axis=0)
    if all(possible):
        return
    before = lengths - 1
    beyond = before >= len(possible)
    before[beyond] = cycle + (before[beyond] - cycle) % (len(possible) - cycle)
    wrong = lengths[~np.array(possible)[before]]
    if len(wrong):
        raise ValueError(f"transitions allow no labelling of a sequence of length {wrong.min()}")


def make_request(stacked, coef, transitions, start, end, rules=(None, None, None), possible=None):
    """Return sequences with the weights that are to label them, which are not checked.

    Parameters
    ----------
    stacked : RaggedArray
        Features of the sequences.
    coef : ndarray of shape (K, p)
        Weights of the features; those of features that do not occur are not read.
    transitions : ndarray of shape (K, K)
        Weights of the transitions, from row to column.
    start, end : ndarray of shape (K,)
        Weights of the first and of the last label.
    rules : tuple
        Allowed transitions, first labels and last labels, or None for each.
    possible : ndarray of shape (n_tokens, K), bool, default=None
        Labels that are possible at each token; None means all.

    Returns
    -------
    request : ChainRequest
        What decoders take.
    """
    weights = [np.asarray(array, dtype=np.float64) for array in (transitions, start, end)]
    return ChainRequest(make_features(stacked, coef, possible), stacked.offsets, *weights, *rules)


def make_features(stacked, coef, possible=None):
    """Return the scores of the tokens of a request.

    Parameters
    ----------
    stacked, coef, possible : object
        As of `make_request`.

    Returns
    -------
    features : RowScores
        What requests take.
    """
    coef, rows = np.asarray(coef, dtype=np.float64), FeatureRows(stacked.values)
    if possible is None:
        return RowScores(rows, coef)
    return PossibleScores(rows, coef, None, None, possible)


def token_costs(loss, class_weight, classes, labels, lengths, counts=None):
    """Return the loss of a wrong label at each token.

    Parameters
    ----------
    loss : {"hamming", "hamming_sum"}
        Share or number of wrong tokens.
    class_weight : dict, "balanced" or None
        Factors by true label.
    classes : ndarray of shape (K,)
        Labels.
    labels : ndarray of shape (n_tokens,)
        True labels, 0 to K - 1.
    lengths : ndarray of shape (n,)
        Lengths of the sequences.
    counts : ndarray of shape (K,), default=None
        How often each label occurs in all training data; None means in these.

    Returns
    -------
    cost : ndarray of shape (n_tokens,)
        Non-negative.

    Raises
    ------
    ValueError
        If a class weight is negative or not finite, or is that of no label.
    """
    cost = np.ones(len(labels))
    if loss == "hamming":
        cost /= np.repeat(lengths, lengths)
    if class_weight is not None:
        if counts is None:
            counts = np.bincount(labels, minlength=len(classes))
        cost *= class_factors(class_weight, classes, counts)[labels]
    return cost


def token_scale(stacked, weight, sqnorm=None, n_jobs=None):
    """Return how large the features of tokens are.

    Parameters
    ----------
    stacked : RaggedArray
        Features of the sequences.
    weight : ndarray of shape (n,) or None
        Sample weights.
    sqnorm : ndarray of shape (n_tokens,), default=None
        Squared norms of the tokens in a kernel space; None means those of their features.
    n_jobs : int, default=None
        Number of threads that compute these.

    Returns
    -------
    scale : FeatureScale
        With the weight of a sequence for each of its tokens.

    Raises
    ------
    ValueError
        If squares of the features overflow.
    """
    weight = np.ones(len(stacked)) if weight is None else weight
    token_weight = np.repeat(weight, stacked.lengths)
    if sqnorm is None:
        sqnorm = squared_norms(stacked.values, n_jobs)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.dot(token_weight, sqnorm)
        scale = FeatureScale(squares, token_weight.sum(), float(weight.sum()))
    return scale.checked(np.maximum.reduceat(sqnorm, stacked.offsets[:-1]))


def default_lam(scale):
    """Return R^2 / (4 n), with R^2 the mean squared norm of a token's features.

    The scale of the features cancels, and so does their number if they are of one size; 1 / n
    makes the sum over the sequences weigh as much as the regulariser whatever n. The factor is
    the one that came closest to the best lam on OCR letters and CoNLL-2000 together.

    Parameters
    ----------
    scale : FeatureScale
        Of the tokens; the sum of the sample weights takes the place of n.

    Returns
    -------
    lam : float
        1 / n if all features are zero.
    """
    return scale.times(0.25) / scale.weight
