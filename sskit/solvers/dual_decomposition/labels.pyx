"""The pass of dual-decomposed training over sets of labels."""

from sskit.core.decomposition cimport LabelFactors

# With w = 0 every label of the first blocks is violated, and so every pair would be linked; a few
# passes over labels alone leave few.
cdef Py_ssize_t PASSES_ALONE = 3


cdef class LabelSweep(Sweep):
    r"""Labels and the few edges that are at odds with the rest step, then the multipliers do.

    Algorithm 3 of Yen et al. 2016 for edges that score in the state (1, 1) only. y_l is the share
    of state 1 of a label; an edge needs no memory unless it is *linked*. What is linked follows
    from the levels of labels:

    - 0, fresh: the label has its true state, y_l = t_l;
    - 1, released: it may have any share up to its *ceiling*, one minus the largest share
      of a label that it has an edge with and is not linked to. Between two true labels there is
      no such limit.

    Invariant of an open block: edges between two true labels are linked if one is released.
    Others are linked if there is a need: the weight is positive and both ends are on, or q(1, 1)
    is positive, or messages hold the ends back, or both would have shares that sum to more than
    one. All others are *implied*: they have the mix of states that their ends have,
    with q(1, 1) = 1 between true labels and 0 elsewhere, which is possible as no two ends sum to
    more than one there, but for rounding. So they never disagree.
    A block is not open as long as its edges are left out altogether: those are the first passes,
    which find out where to start.

    A visit scores all labels, raises the levels of those that violate the optimality of the block,
    and takes sweeps over the labels that are not fresh: each goes to the minimum of the augmented
    Lagrangian over it and all its links, but for a tenth of the slope.

    M_jf q_f - q_j has two components, for the states 1 and 0 of a label, that are each other's
    negative, so one is kept and counts twice.

    *Why edges that are not linked may be left alone.* At the optimum of the relaxed problem there
    are messages lambda for every edge e = (k, j) under which its state has the largest gain of

        0 in (0, 0),  -lambda_k in (1, 0),  -lambda_j in (0, 1),  w_e - lambda_k - lambda_j in
        (1, 1),

    and y_j is the best for g_j y_j, where g_j is what label j gains by its scores, the loss
    and the sum of its messages. An implied edge agrees with its ends, so its multipliers do not
    count in the Lagrangian and can be chosen:

    - between an end that is on, even in part, and one that is off: max(w_e, 0) to the latter;
    - between two that are off: max(w_e, 0), split in any way;
    - between two that are true and fresh: min(w_e, 0) to each;
    - between two others that are on, with shares that sum to one at most: nothing, if w_e <= 0.

    In all cases the state of the edge is among the best. So all is at its optimum if no label
    that is off gains with the weights that attract it to labels that are on; if weights between
    two that are off can be split without making one gain; if those that are true and fresh gain
    by staying, with their negative weights alone; if no two others that are on attract
    each other; and if none would have more than the shares of others leave to it. Fresh labels
    that violate this are released, labels that are on are linked to those that
    attract them, and a label at its ceiling to those with at least half of what it
    lacks, so that the next ceiling is half as far from one. Of the pairs that are off the one that
    gains most is linked; if none gains by
    itself but many together may, the best of those in screen. Where nothing is linked or released
    any more and links agree, w is optimal.

    A label is idle if it is off, its links agree, and it would stay so without them. Its links are
    given up but for those between true labels, and if it is not true it is fresh again. So are
    links that have the mix which they would have if they were implied, a weight that is not
    positive, no messages that hold an end back, and ends that leave each other room.

    Parameters
    ----------
    factors : LabelFactors
        The problem.
    lam, rho, step, w : object
        As for `Sweep`.
    """

    def __cinit__(self, LabelFactors factors, double lam, double rho, double step, double[::1] w):
        self.labels, self.certifies = factors, factors.tight
        self.kept.resize(factors.n_blocks)
        self.block.bind(
            factors.n_labels, factors.n_pairs, &factors.ends[0, 0], &factors.cost[0],
            &w[factors.first_pair]
        )

    @property
    def n_bytes(self):
        """Memory of dual variables and messages, in bytes."""
        cdef Py_ssize_t i
        return sum([self.kept[i].n_bytes() for i in range(self.labels.n_blocks)])

    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil:
        cdef double kappa = self.labels.block_weight[i] / self.lam, decrease
        cdef bint alone = self.n_passes < PASSES_ALONE and self.labels.n_pairs > 0
        self.block.load(self.kept[i], &self.labels.truth[i * self.labels.n_labels])
        self.labels.label_scores(i, &self.w[0], self.block.gain.data())
        # labels as if there were no edges say nothing about when to stop
        distance[0] = alone
        decrease = self.block.visit(
            kappa, 2.0 * self.rho * kappa, self.labels.row_sqnorm[i], alone, self.step,
            &self.kept[i].open, distance
        )
        decrease += self.block.store(&self.kept[i])
        self.labels.move_labels(i, self.block.change.data(), -kappa, &self.w[0])
        self.n_looks += self.labels.n_labels + self.block.table.n_looks
        return decrease

    def rebuild(self):
        """Sum the weights from the dual variables anew: they are a sum of many small moves."""
        Sweep.rebuild(self)
        self.block.table.renew(&self.w[self.labels.first_pair])

    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil:
        cdef double scale = self.labels.block_weight[i] / self.lam, loss
        # one that is not open has the truth
        if consistent and not self.kept[i].open:
            return 0.0
        self.block.load(self.kept[i], &self.labels.truth[i * self.labels.n_labels])
        loss = self.block.leave_truth(consistent, scale, w + self.labels.first_pair)
        self.labels.move_labels(i, self.block.change.data(), -scale, w)
        return loss
