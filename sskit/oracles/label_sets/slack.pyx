"""The contract of oracles of label sets for slack rescaling (see the .pxd)."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal, check_indices
from sskit.oracles.label_sets.oracle cimport ONE


cdef class SlackSets:
    """Base of all; a subclass says what it has, and overrides that and fork."""

    cdef bint best_product(self, const SetQuestion* q, int32_t* code) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} has no best_product")

    cdef bint best_within(
        self, const SetQuestion* q, double loss_weight, double lower, double upper, int32_t* code
    ) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} has no best_within")

    cpdef SlackSets fork(self):
        raise NotImplementedError(f"{type(self).__name__} must implement fork")


def find_slack_set(SlackSets oracle, gains, edges, pairwise, truth, cost, double offset, cone=None):
    """Ask an oracle for a set of labels.

    Parameters
    ----------
    oracle : SlackSets
        The oracle.
    gains : ndarray of shape (n_labels,), float64
        Scores of the labels, at least one.
    edges : ndarray of shape (n_edges, 2), int32
        Pairs of different labels.
    pairwise : ndarray of shape (n_edges,), float64
        Scores of the pairs.
    truth : ndarray of shape (n_labels,), uint8
        The true set, 0 or 1.
    cost : ndarray of shape (n_labels,), float64
        Loss of a wrong label.
    offset : float
        h of the empty set.
    cone : tuple (loss_weight, lower, upper), default=None
        Ask for the best sum within a cone; None asks for the best product.

    Returns
    -------
    labels : ndarray of shape (n_labels,) or None
        The answer's y, between 0 and 1; None if no set counts.
    pairs : ndarray of shape (n_edges,) or None
        Its z.
    """
    cdef SetQuestion q
    check_indices(edges, len(gains), "label")
    check_equal(len(pairwise), len(edges), "the number of pairs")
    check_equal(len(truth), len(gains), "the number of true labels")
    check_equal(len(cost), len(gains), "the number of losses")
    cdef const double[::1] label = gains, pair = np.append(pairwise, 0.0), costs = cost
    cdef const int32_t[:, ::1] ends = np.concatenate([edges, np.zeros((1, 2), dtype=np.int32)])
    cdef const unsigned char[::1] right = truth
    q.n_labels, q.n_edges = len(gains), len(edges)
    q.label, q.pair, q.ends = &label[0], &pair[0], &ends[0, 0]
    q.truth, q.cost, q.offset = &right[0], &costs[0], offset
    code = np.zeros(q.n_labels + q.n_edges, dtype=np.int32)
    cdef int32_t[::1] out = code
    if cone is None:
        found = oracle.best_product(&q, &out[0])
    else:
        loss_weight, lower, upper = cone
        found = oracle.best_within(&q, loss_weight, lower, upper, &out[0])
    if not found:
        return None, None
    values = code / float(ONE)
    return values[: q.n_labels], values[q.n_labels :]
