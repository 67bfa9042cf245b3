"""Block-coordinate Frank-Wolfe."""

import numpy as np

from sskit.core._dual import DualState
from sskit.core._sampler import PermutationSampler, UniformSampler
from sskit.solvers import _bcfw
from sskit.solvers._averager import Averager, WeightedAverager
from sskit.solvers._certify import certify_dual_point, certify_weights
from sskit.solvers._options import check_choice, check_positive
from sskit.solvers._solver import Solver
from sskit.solvers._visit import Visit

SAMPLERS = {"permutation": PermutationSampler, "uniform": UniformSampler}


class BCFW(Solver):
    r"""Block-coordinate Frank-Wolfe for the dual of a structured SVM.

    With planes :math:`(\psi_i(y), L_i(y))` of the training pairs, weights :math:`c_i` and
    :math:`\lambda` it minimises

    .. math::
        P(w) = \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \max_y [L_i(y) - \langle w, \psi_i(y)\rangle]

    by maximising its dual :math:`D`. A step calls the oracle of one training pair and moves
    its dual variables towards the answer by an exact line search. The gap
    :math:`P(w) - D \ge 0` bounds the distance of :math:`P(w)` to the optimum; it is the sum of
    the gaps of the pairs, computed by an exact pass over the data.

    Parameters
    ----------
    steps : {"auto", "fw"}, default="auto"
        Kind of step. "fw" is the plain Frank-Wolfe step; "auto" chooses it.
    sampling : {"auto", "permutation", "uniform"}, default="auto"
        Order of the training pairs: a new random permutation in every pass, or independent
        uniform draws. "auto" is "permutation".
    cache : {"auto", False}, default="auto"
        Whether to step towards stored planes before asking the oracle. "auto" does not.
    averaging : bool, default=True
        Whether to keep the weighted average of the iterates too; the fit then returns the
        better of the two in primal objective. It costs a little time and as much memory as the
        weights.
    gap_every : int, default=10
        Number of passes between exact passes.
    max_time : float, default=None
        Seconds after which the fit ends at the end of the pass. None means no limit.

    Raises
    ------
    NotImplementedError
        When solving, for steps "pairwise" and "away", sampling "gap" and "max_gap" and
        cache=True.

    References
    ----------
    Lacoste-Julien, Jaggi, Schmidt, Pletscher (2013). Block-coordinate Frank-Wolfe optimization
    for structural SVMs. ICML. Algorithm 4.

    Examples
    --------
    >>> from sskit import StructSVMClassifier
    >>> from sskit.solvers import BCFW
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.01, solver=BCFW(gap_every=5), random_state=0)
    >>> model.fit(X, y).dual_gap_ < 0.01
    True
    """

    def __init__(
        self,
        *,
        steps="auto",
        sampling="auto",
        cache="auto",
        averaging=True,
        gap_every=10,
        max_time=None,
    ):
        self.steps = steps
        self.sampling = sampling
        self.cache = cache
        self.averaging = averaging
        self.gap_every = gap_every
        self.max_time = max_time

    def check(self):
        """Raise an error if a parameter is wrong or not available."""
        check_choice("steps", self.steps, ("auto", "fw"), ("pairwise", "away"))
        check_choice("sampling", self.sampling, ("auto", *SAMPLERS), ("gap", "max_gap"))
        check_choice("cache", self.cache, ("auto", False), (True,))
        check_choice("averaging", self.averaging, (True, False))
        check_positive("gap_every", self.gap_every, whole=True)
        check_positive("max_time", self.max_time, optional=True)

    def resolved(self):
        """Return a solver in which every "auto" is replaced by what it stands for."""
        sampling = "permutation" if self.sampling == "auto" else self.sampling
        return type(self)(
            steps="fw",
            sampling=sampling,
            cache=False,
            averaging=self.averaging,
            gap_every=self.gap_every,
            max_time=self.max_time,
        )

    def start(self, problem, regularizer, random_state):
        """Return the state of a new run.

        Parameters
        ----------
        problem : Problem
            What to solve.
        regularizer : Regularizer
            Holds lam, v and w.
        random_state : RandomState
            Source of randomness.

        Returns
        -------
        run : BCFWRun
            The state.
        """
        self.check()
        solver = self.resolved()
        sampler = SAMPLERS[solver.sampling](problem.n_blocks, random_state)
        averager = WeightedAverager(problem.n_weights) if self.averaging else Averager()
        return BCFWRun(problem, regularizer, sampler, averager)


class BCFWRun:
    """State of one run of block-coordinate Frank-Wolfe.

    Parameters
    ----------
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam, v and w.
    sampler : Sampler
        Order of the blocks.
    averager : Averager
        Average of the iterates.
    """

    def __init__(self, problem, regularizer, sampler, averager):
        self.problem = problem
        self.regularizer = regularizer
        self.sampler = sampler
        self.averager = averager
        self.dual = DualState(problem)
        self.visit = Visit(problem)
        self.gaps = np.full(problem.n_blocks, np.inf)

    def weights(self):
        """Return a copy of the current weights."""
        return self.regularizer.coef()

    def run_pass(self):
        """Take one step for every block; return the sum of the gaps last seen."""
        n_steps = self.problem.n_blocks
        self.sampler.begin_pass(n_steps)
        _bcfw.run_pass(
            self.problem,
            self.dual,
            self.regularizer,
            self.sampler,
            self.averager,
            self.visit,
            n_steps,
            self.gaps,
        )
        return float(self.gaps.sum())

    def certify(self, evaluator):
        """Return the certificate of the last iterate, or of the average if that is better."""
        self.dual.rebuild(self.problem, self.regularizer)
        last, self.gaps = certify_dual_point(self.problem, self.regularizer, self.dual, evaluator)
        loss = float(np.dot(self.problem.block_weight, self.dual.losses()))
        v = np.asarray(self.regularizer.v)[: self.problem.n_weights]
        average = self.averager.average(v, loss)
        if average is None:
            return last
        v_average, loss_average = average
        dual = max(last.dual, self.regularizer.dual(v_average, loss_average))
        averaged = certify_weights(
            self.problem, self.regularizer, self.regularizer.image(v_average), dual, evaluator
        )
        return averaged if averaged.primal < last.primal else last
