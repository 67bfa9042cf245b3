"""The pass of dual-decomposed training over sets of labels."""

# With w = 0 every label of the first blocks is violated, and so every pair would be linked; a few
# passes over labels alone leave few.
cdef Py_ssize_t PASSES_ALONE = 3


cdef class LabelSweep(Sweep):
    r"""Labels and the few edges that are at odds with the rest step, then the multipliers do.

    Algorithm 3 of Yen et al. 2016 for edges that score in the state (1, 1) only. y_l is the share
    of state 1 of a label; an edge needs no memory unless it is *linked*.

    Invariant of an open block: edges between two true labels are linked, and all whose ends have
    shares that sum to more than one. Others are linked if there is a need: the weight is positive
    and both ends are on, or one is and the other rises, or q(1, 1) is positive, or messages hold
    the ends back. All others are *implied*: they have the mix of states that their ends have, with
    q(1, 1) = 0, which is possible as the ends sum to no more than one. So they never disagree.
    A block is not open as long as its edges are left out altogether: those are the first passes,
    which find out where to start.

    A visit scores all labels, links what violates the optimality of the block, and takes sweeps
    over the labels that are on or linked or would rise: each goes to the minimum of the augmented
    Lagrangian over it and all its links, but for a tenth of the slope. Where it would leave no
    room for the shares of others it is linked to these first, and asked once more.

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
    - between two that are on, with shares that sum to one at most: nothing, if w_e <= 0.

    In all cases the state of the edge is among the best. So all is at its optimum if no label
    that is off gains with the weights that attract it to labels that are on; if weights between
    two that are off can be split without making one gain; and if no two that are on attract each
    other. Labels that violate this are linked to those that attract them. Of the pairs that are
    off the one that gains most is linked, among the labels that all others together could raise.
    Where nothing is linked any more and links agree, w is optimal.

    A label is idle if it is off, its links agree, and it would stay so without them. Its links are
    given up but for those between true labels. So are links that have the mix which they would
    have if they were implied, a weight that is not positive, no messages that hold an end back,
    and ends that leave each other room.

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
        self.block.store(&self.kept[i])
        self.labels.move_labels(i, self.block.change.data(), -kappa, &self.w[0])
        self.n_looks += self.block.n_looks
        return decrease

    def run_pass(self, *args, **options):
        """Visit blocks, see `Sweep`."""
        self.block.renew()
        Sweep.run_pass(self, *args, **options)

    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil:
        cdef double scale = self.labels.block_weight[i] / self.lam, loss
        # one that is not open has the truth
        if consistent and not self.kept[i].open:
            return 0.0
        self.block.load(self.kept[i], &self.labels.truth[i * self.labels.n_labels])
        loss = self.block.leave_truth(consistent, scale, w + self.labels.first_pair)
        self.labels.move_labels(i, self.block.change.data(), -scale, w)
        return loss
