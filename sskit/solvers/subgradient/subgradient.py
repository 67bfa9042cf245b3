"""Stochastic subgradient descent (Shalev-Shwartz et al. 2011), averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sskit._parameters import COUNT, TRUTH, parameter, parameters
from sskit.core.sampler import PermutationSampler, UniformSampler
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import better_of, certify_weights
from sskit.solvers.common.solver import Solver
from sskit.solvers.subgradient.subgradient_pass import SubgradientState

if TYPE_CHECKING:
    pass


SAMPLERS = {"permutation": PermutationSampler, "uniform": UniformSampler}


@parameters
class Subgradient(Solver):
    r"""Averaged stochastic subgradient descent on the primal of a structured SVM.

    Step k calls the oracle of one training pair and has the size 1 / (lam k) (Pegasos). It is the
    baseline without dual variables, and takes neither bounds on the weights nor a prior.

    Parameters
    ----------
    sampling : {"permutation", "uniform"}, default="permutation"
        Order of the training pairs.
    averaging : bool, default=True
        Whether to keep the average of the iterates with weights proportional to k too; the fit
        then returns the better of the two in primal objective.
    gap_every : int, default=10
        Number of passes between exact passes.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    Notes
    -----
    With these sizes the iterate is a mean, :math:`w_k = v_k`, where :math:`v_k` is
    :math:`-1 / \lambda` times the mean of the k subgradients of the hinges so far.

    With sampling="permutation" the iterate at the end of a pass is a sum over complete passes,
    hence has dual variables, equal fractions of the planes found so far: their dual value is the
    lower bound behind the gap. With "uniform" there are none and the lower bound is 0, so that a
    fit runs to max_iter unless the optimum is near zero.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro, Cotter (2011). Pegasos: primal estimated sub-gradient solver
    for SVM. Mathematical Programming 127.

    Lacoste-Julien, Schmidt, Bach (2012). A simpler approach to obtaining an O(1/t) convergence
    rate for the projected stochastic subgradient method. arXiv:1212.2002 (the averaging).

    Examples
    --------
    >>> from sskit import StructSVMClassifier
    >>> from sskit.solvers import Subgradient
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.1, solver=Subgradient(), tol=0.1, random_state=0)
    >>> model.fit(X, y).dual_gap_ < 0.1
    True
    """

    sampling: Literal["permutation", "uniform"] = parameter(default="permutation")
    averaging: bool = parameter(TRUTH, default=True)
    gap_every: int = parameter(COUNT, default=10)
    keeps_dual_point = keeps_bounds = keeps_prior = False

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        sampler = SAMPLERS[self.sampling](problem.n_blocks, random_state)
        return SubgradientRun(
            problem, regularizer, sampler, self.averaging, self.sampling == "permutation"
        )


class SubgradientRun(Run):
    """State of one run of stochastic subgradient descent.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam.
    sampler : Sampler
        Order of the blocks.
    averaging : bool
        Whether to consider the average.
    balanced : bool
        Whether the sampler visits all blocks equally often.
    """

    def __init__(self, problem, regularizer, sampler, averaging, balanced):
        super().__init__(problem, regularizer)
        self.sampler = sampler
        self.averaging = averaging
        self.balanced = balanced
        self.state = SubgradientState(problem, regularizer.lam)
        self.best_dual = 0.0

    def weights(self):
        """Return the current weights, averaged if chosen."""
        return self.state.average() if self.averaging else self.state.last()

    def run_pass(self):
        """Take one step for every block; there is no estimate of the gap."""
        n_steps = self.problem.n_blocks
        self.sampler.begin_pass(n_steps)
        n_done = self.state.visit_blocks(self.sampler, n_steps, self.stop)
        # from now on some blocks have been visited more often than others
        self.balanced = self.balanced and n_done == n_steps
        self.n_oracle_calls += n_done
        return np.inf

    def certify(self, evaluator):
        """Return the certificate of the last iterate, or of the average if that is better."""
        w = self.state.last()
        if self.balanced:
            dual = self.regularizer.dual(w, self.state.loss / self.state.n_steps)
            self.best_dual = max(self.best_dual, dual)
        last = certify_weights(self.problem, self.regularizer, w, self.best_dual, evaluator)
        if not self.averaging:
            return last
        return better_of(
            last, self.problem, self.regularizer, self.weights(), self.best_dual, evaluator
        )
