"""The best labellings of chains: the Viterbi algorithm (Viterbi 1967) and its relatives.

The recursions, over nodes t with potentials n_t, pairs p and triples q of states:

    first order     V_t(b) = n_t(b) + max_a [V_{t-1}(a) + p(a, b)]
    second order    V_t(b, c) = n_t(c) + p(b, c) + max_a [V_{t-1}(a, b) + q(a, b, c)]
    sums            the same with log sum_a exp [...] in place of max_a; log Z at the end
    marginals       P(y_t = b) = exp(V_t(b) + A_t(b) - log Z), where A_t is the recursion
                    backwards: A_t(a) = log sum_b exp [p(a, b) + n_{t+1}(b) + A_{t+1}(b)]
    by loss         V_t(b, e) = n_t(b) + max_a [V_{t-1}(a, e - l_t(b)) + p(a, b)]

tests/helpers/programmes.py has them in a few lines of NumPy each. The loops are in the headers.
"""

import numpy as np

from sskit._numbers import check_bool
from sskit.oracles.validation import (
    check_allowed, check_chain, check_count, count_answers, padded_rows
)

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.lanes cimport LANES, padded
from sskit.oracles.chain.second_order cimport triple_room, triple_table


cdef class PaddedChain:
    """Potentials of a chain as compiled code takes them, which are not checked.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes, n_states)
        Potentials of the nodes.
    transitions : ndarray of shape (n_states, n_states) or (n_nodes - 1, n_states, n_states)
        Potentials of the transitions, of all or of each.
    triples : ndarray of shape (n_states, n_states, n_states), default=None
        Those of three states in a row; None: the order is one.
    """

    cdef Py_ssize_t n_nodes, n_states, stride
    cdef const double[:, ::1] nodes
    cdef const double[:, ::1] pairs          # tables one after the other
    cdef vector[double] triples              # their `triple_table`
    cdef vector[const double*] steps         # tables, if each transition has its own
    cdef Chain chain
    cdef ChainOracle oracle

    def __cinit__(self, nodes, transitions, triples=None):
        cdef Py_ssize_t t, n_states = nodes.shape[1], size = n_states * padded(n_states)
        cdef const double[::1] weights
        cdef const double* of_three = NULL
        self.n_nodes, self.n_states, self.stride = len(nodes), n_states, padded(n_states)
        # of one node there may be no table, but memory that is pointed to
        tables = transitions if transitions.size else np.zeros((n_states, n_states))
        self.nodes, self.pairs = padded_rows(nodes), padded_rows(tables.reshape(-1, n_states))
        for t in range(self.n_nodes if transitions.ndim == 3 else 0):
            self.steps.push_back(&self.pairs[0, 0] + t * size)
        if triples is not None:
            weights = np.append(triples, np.zeros(LANES))
            self.triples.resize(triple_room(n_states))
            triple_table(&weights[0], n_states, self.triples.data())
            of_three = self.triples.data()
        self.chain = Chain(
            &self.nodes[0, 0], &self.pairs[0, 0], self.steps.data() if self.steps.size() else NULL,
            self.n_nodes, n_states, of_three
        )

    def best(self, truth=None, cost=None):
        """Return the best labelling and its score, as `viterbi`, of arguments that are checked."""
        cdef const int32_t[::1] true_states = truth
        cdef const double[::1] costs = cost
        cdef const int32_t* right = NULL
        cdef const double* loss = NULL
        labels = np.empty(self.n_nodes, dtype=np.int32)
        cdef int32_t[::1] out = labels
        cdef double score
        if truth is not None:
            right, loss = &true_states[0], &costs[0]
        with nogil:
            score = self.oracle.best(self.chain, right, loss, 1.0, &out[0])
        check_allowed(score > -INFINITY, self.n_nodes)
        return labels, score

    def top_k(self, k):
        """Return the k best labellings and their scores, as `viterbi_top_k`."""
        cdef Py_ssize_t n_labellings, most = count_answers(k, self.n_states, self.n_nodes)
        labels, scores = np.empty((most, self.n_nodes), dtype=np.int32), np.empty(most)
        cdef int32_t[:, ::1] out = labels
        cdef double[::1] values = scores
        with nogil:
            n_labellings = self.oracle.k_best(self.chain, most, &out[0, 0], &values[0])
        check_allowed(n_labellings, self.n_nodes)
        return labels[:n_labellings].copy(), scores[:n_labellings].copy()

    def max_marginals(self):
        """Return the max-marginals, (n_nodes, n_states)."""
        scores = np.empty((self.n_nodes, self.stride))
        cdef double[:, ::1] out = scores
        with nogil:
            self.oracle.begin(self.chain)
            self.oracle.max_marginals(self.chain, &out[0, 0])
        return scores[:, : self.n_states].copy()

    def marginals(self, bint return_pairs, bint return_triples):
        """Return sums over all labellings.

        Parameters
        ----------
        return_pairs, return_triples : bool
            Whether the probabilities of pairs, and of three states in a row, are wanted.

        Returns
        -------
        log_partition : float
            log Z.
        marginals : ndarray of shape (n_nodes, n_states)
            Probabilities of the states.
        pairs : ndarray of shape (n_nodes - 1, n_states, n_states)
            Those of states of neighbours; only if wanted.
        triples : ndarray of shape (n_nodes - 2, n_states, n_states, n_states)
            Those of three states in a row; only if wanted.

        Raises
        ------
        ValueError
            If no labelling is allowed.
        """
        cdef Py_ssize_t K = self.n_states, size = K * self.stride
        shape, n_triples = (K, self.stride), max(self.n_nodes - 2, 0) * return_triples
        # with a spare table of either kind to point at
        cdef double[:, ::1] out = np.empty((self.n_nodes, self.stride))
        cdef double[:, :, ::1] pairs = np.zeros(((self.n_nodes - 1) * return_pairs + 1, *shape))
        cdef double[:, :, :, ::1] triples = np.zeros((n_triples + 1, K, *shape))
        cdef double log_sum
        with nogil:
            self.oracle.begin(self.chain)
            log_sum = self.oracle.forward(self.chain)
            if log_sum > -INFINITY:
                self.oracle.backward(
                    &out[0, 0], &pairs[0, 0, 0] if return_pairs else NULL, size,
                    &triples[0, 0, 0, 0] if return_triples else NULL, K * size
                )
        check_allowed(log_sum > -INFINITY, self.n_nodes)
        arrays = [np.asarray(out)] + [np.asarray(pairs)[:-1]] * return_pairs
        arrays += [np.asarray(triples)[:-1]] * return_triples
        return log_sum, *(np.ascontiguousarray(some[..., :K]) for some in arrays)


def viterbi(nodes, transitions, triples=None, *, truth=None, cost=1.0):
    """Find the best labelling of a chain.

    Maximises ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t] + sum_t triples[y_{t-2},
    y_{t-1}, y_t]``, plus, if `truth` is given, the loss ``sum_t cost_t [y_t != truth_t]``. The
    first label has no transition and the first two have no triple that leads to them. Exact;
    O(n_nodes n_states^2), with triples O(n_nodes n_states^3) at worst. Rows of triples that cannot
    contain the maximum are skipped, so that it is nearer to O(n_nodes n_states^2) if nodes and
    transitions have larger potentials than triples.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    triples : array-like of shape (n_states, n_states, n_states), default=None
        Potentials of three states in a row; ``-inf`` forbids them. None means none.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A maximiser. Of several, the one with the smallest last state, and so on backwards.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf,
        a true state is out of range, a cost is negative or no labelling is allowed.

    References
    ----------
    Viterbi (1967). Error bounds for convolutional codes and an asymptotically optimum decoding
    algorithm. IEEE Transactions on Information Theory 13(2).

    He (1988). Extended Viterbi algorithm for second order hidden Markov process. International
    Conference on Pattern Recognition.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import viterbi
    >>> labels, score = viterbi([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]])
    >>> labels
    array([0, 0, 0], dtype=int32)
    >>> score
    2.0
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = 2
    >>> viterbi([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]], triples)
    (array([0, 1, 0], dtype=int32), 2.5)
    """
    *potentials, truth, cost = check_chain(nodes, transitions, triples, truth, cost)
    return PaddedChain(*potentials).best(truth, cost)


def viterbi_top_k(nodes, transitions, k, *, triples=None):
    """Find the k best labellings of a chain.

    Their scores are those of `viterbi`. Exact; O(n_nodes n_states (n_states + k)), with triples
    O(n_nodes n_states (n_states^2 + k)) at worst.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    k : int
        Number of labellings.
    triples : array-like of shape (n_states, n_states, n_states), default=None
        Potentials of three states in a row; ``-inf`` forbids them. None means none.

    Returns
    -------
    labels : ndarray of shape (m, n_nodes), int32
        The m best labellings, best first, all distinct; m is k, or the number of all allowed
        labellings if that is smaller. Of several with one score first the one with the smaller
        last state, and so on backwards.
    scores : ndarray of shape (m,)
        Their scores, never rising.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, `k`
        is not a positive integer or no labelling is allowed.

    References
    ----------
    Seshadri and Sundberg (1994). List Viterbi decoding algorithms with applications. IEEE
    Transactions on Communications 42.

    Jimenez and Marzal (1999). Computing the K shortest paths: a new algorithm and an
    experimental comparison. Workshop on Algorithm Engineering.

    Examples
    --------
    >>> from sskit.oracles import viterbi_top_k
    >>> labels, scores = viterbi_top_k([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]], 3)
    >>> labels
    array([[0, 0, 0],
           [0, 1, 0],
           [1, 1, 0]], dtype=int32)
    >>> scores
    array([2. , 0.5, 0.5])
    """
    return PaddedChain(*check_chain(nodes, transitions, triples)[:3]).top_k(k)


def beam_search(nodes, transitions, beam_size):
    """Find a good labelling of a chain with many states.

    The score of a labelling is ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t]``. At each
    node the `beam_size` states in which the best labellings of the nodes so far end are kept, and
    the next node continues from these only. The result is a labelling with its true score, which
    is at most that of `viterbi`: a labelling that begins badly and ends well may be lost.
    O(n_nodes n_states beam_size).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    beam_size : int
        Number of states that are kept, positive. From n_states on the result is exactly that of
        `viterbi`.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        The labelling that was found. Of several the one with the smallest last state, and so on
        backwards. If the beam loses all allowed labellings, that of `viterbi`.
    score : float
        Its score.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf,
        `beam_size` is not a positive integer or no labelling is allowed.

    References
    ----------
    Lowerre (1976). The HARPY speech recognition system. PhD thesis, Carnegie Mellon University.

    Examples
    --------
    >>> from sskit.oracles import beam_search
    >>> nodes, transitions = [[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 3]]
    >>> labels, score = beam_search(nodes, transitions, 1)
    >>> labels, score
    (array([0, 0, 0], dtype=int32), 2.0)
    >>> labels, score = beam_search(nodes, transitions, 2)
    >>> labels, score
    (array([1, 1, 1], dtype=int32), 6.5)
    """
    nodes, transitions = check_chain(nodes, transitions)[:2]
    beam_size = check_count(beam_size, "beam_size")
    cdef PaddedChain c = PaddedChain(nodes, transitions)
    if beam_size >= c.n_states:
        return c.best()
    cdef Py_ssize_t size = beam_size
    cdef Beam beam = Beam(c.n_nodes, c.n_states, size)
    labels = np.empty(c.n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef double score
    with nogil:
        score = beam.decode(c.chain, &out[0])
    return c.best() if score == -INFINITY else (labels, score)


def chain_max_marginals(nodes, transitions, triples=None):
    """Compute the max-marginals of a chain.

    The max-marginal of a node and a state is the best score, as of `viterbi`, of all labellings
    with this state at this node. The largest of each row is the score of the best labelling. Exact
    up to rounding; O(n_nodes n_states^2), with triples O(n_nodes n_states^3) at worst.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    triples : array-like of shape (n_states, n_states, n_states), default=None
        Potentials of three states in a row; ``-inf`` forbids them. None means none.

    Returns
    -------
    scores : ndarray of shape (n_nodes, n_states)
        The max-marginals; ``-inf`` if no allowed labelling has that state.

    Raises
    ------
    ValueError
        If shapes do not match or a potential is NaN or +inf.

    References
    ----------
    Wainwright, Jaakkola and Willsky (2004). Tree consistency and bounds on the performance of
    the max-product algorithm and its generalizations. Statistics and Computing 14.

    Examples
    --------
    >>> from sskit.oracles import chain_max_marginals
    >>> chain_max_marginals([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]])
    array([[2. , 0.5],
           [2. , 0.5],
           [2. , 0.5]])
    """
    return PaddedChain(*check_chain(nodes, transitions, triples)[:3]).max_marginals()


def chain_marginals(nodes, transitions, triples=None, *, return_pairs=False, return_triples=False):
    """Compute the marginal probabilities of a chain.

    A labelling has the probability ``exp(score) / Z``; its score is that of `viterbi`, and Z makes
    the probabilities of all labellings sum to one. Exact up to rounding, for chains and potentials
    of any size; O(n_nodes n_states^2), with triples O(n_nodes n_states^3) at worst. Rows of
    triples that add less than exp(-50) of a sum to it are skipped.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like, (n_states, n_states) or (n_nodes - 1, n_states, n_states)
        Potentials of the transitions, from row to column: one table for all, or one for each.
        ``-inf`` forbids a transition.
    triples : array-like of shape (n_states, n_states, n_states), default=None
        Potentials of three states in a row; ``-inf`` forbids them. None means none.
    return_pairs : bool, default=False
        Whether to return the probabilities of pairs of neighbours too.
    return_triples : bool, default=False
        Whether to return those of three states in a row too, if these have potentials.

    Returns
    -------
    log_partition : float
        log Z.
    marginals : ndarray of shape (n_nodes, n_states)
        Probability of each state at each node. Below 1e-200 it may be zero.
    pairs : ndarray of shape (n_nodes - 1, n_states, n_states)
        Probability of each state at a node and each at the next one; only if `return_pairs`.
    three : ndarray of shape (n_nodes - 2, n_states, n_states, n_states)
        Probability of each three states at a node and the next two; only if `return_triples`. Of
        a chain of one node the first length is 0.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, or no labelling is allowed.

    See Also
    --------
    tree_marginals : Trees.
    chain_max_marginals : The best score with each state at each node.

    References
    ----------
    Rabiner (1989). A tutorial on hidden Markov models and selected applications in speech
    recognition. Proceedings of the IEEE 77(2), section V.A (scaling).

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import chain_marginals
    >>> log_partition, marginals = chain_marginals(np.log([[3, 1], [1, 1]]), [[0, 0], [0, 0]])
    >>> round(float(np.exp(log_partition)), 12)
    8.0
    >>> marginals
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    check_bool(return_pairs, "return_pairs")
    check_bool(return_triples, "return_triples")
    potentials = check_chain(nodes, transitions, triples, tables=triples is None)[:3]
    return PaddedChain(*potentials).marginals(return_pairs, return_triples and triples is not None)


def viterbi_by_loss(nodes, transitions, truth, *, cost=1.0):
    """Find the best labelling of a chain for each loss.

    For every e, maximises ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t]`` over the
    labellings whose loss ``sum_t cost_t [y_t != truth_t]`` is e. Any function of score and loss
    that grows with the score, such as that of slack rescaling, has its maximum among them. Exact;
    O(n_nodes E n_states^2) with E the largest loss.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    truth : array-like of shape (n_nodes,)
        True states.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, a non-negative integer.

    Returns
    -------
    labels : ndarray of shape (E + 1, n_nodes), int32
        Row e is a maximiser with the loss e, or -1 if there is none.
    scores : ndarray of shape (E + 1,)
        The maxima, -inf if there is no labelling with that loss.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, a true state is out of range, a cost is
        negative or not an integer.

    References
    ----------
    Bauer, Goernitz, Biegler, Mueller, Kloft (2014). Efficient algorithms for exact inference in
    sequence labeling SVMs. IEEE Transactions on Neural Networks and Learning Systems 25(5).

    Examples
    --------
    >>> from sskit.oracles import viterbi_by_loss
    >>> labels, scores = viterbi_by_loss([[1, 0], [0, 0.5]], [[0, -1], [-1, 0]], [0, 0])
    >>> labels
    array([[0, 0],
           [0, 1],
           [1, 1]], dtype=int32)
    >>> scores
    array([1. , 0.5, 0.5])
    """
    if truth is None:
        raise ValueError("truth must hold the true states, got None")
    *potentials, truth, cost = check_chain(nodes, transitions, truth=truth, cost=cost)
    wrong = np.flatnonzero(cost != np.floor(cost))
    if len(wrong):
        raise ValueError(f"cost[{wrong[0]}] is {cost[wrong[0]]}, expected a whole number")
    with np.errstate(over="ignore"):
        total = cost.sum()
    if total > 10_000:
        raise ValueError(f"cost adds up to {total:g}, expected at most 10000")
    cdef PaddedChain c = PaddedChain(*potentials)
    cdef LossIndexed programme
    cdef const int32_t[::1] right = truth, units = cost.astype(np.int32)
    cdef Py_ssize_t e, reach = programme.solve(c.chain, &right[0], &units[0])
    labels, scores = np.full((reach + 1, c.n_nodes), -1, dtype=np.int32), np.empty(reach + 1)
    cdef int32_t[:, ::1] out = labels
    cdef double[::1] best = scores
    for e in range(reach + 1):
        best[e] = programme.best[e]
        if best[e] > -INFINITY:
            programme.labelling(c.chain, &right[0], &units[0], e, &out[e, 0])
    return labels, scores
