"""Paths of slack-rescaled problems, whose planes are (L psi, L).

A structure of the user's whose input holds the truth says so to the package: its joint feature is
L(y) (phi(x, y) - phi(x, truth)), which is zero at the truth, so that psi is scaled by the loss.
"""

import numpy as np
import pytest
from helpers.paper import Enumerated, multiclass_feature
from helpers.qp import solve_primal
from sklearn.base import clone

from sskit import RegularizationPath, SequenceTagger, SlackRescaling, StructuredSVM
from sskit.core.problem import block_weights
from sskit.datasets import make_chains
from sskit.models import StructuredModel
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import make_pool

COSTS = np.array([[0.0, 1.0, 3.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]])
EPS = 0.05


class SlackClasses(StructuredModel):
    """Three classes with costs, slack-rescaled; an input is (features, truth)."""

    def joint_feature(self, x, y):
        features, truth = x
        right, found = (multiclass_feature(features, k, 3, False) for k in (truth, y))
        return COSTS[truth, y] * (found - right)

    def loss(self, y_true, y):
        return COSTS[y_true, y]

    def argmax(self, x, w, y_true=None):
        scores = [self.joint_feature(x, y) @ w for y in range(3)]
        if y_true is not None:
            scores += COSTS[y_true]
        return int(np.argmax(scores))


@pytest.fixture(scope="module")
def problem():
    """Samples of the structure, and the same by enumeration."""
    rng = np.random.default_rng(5)
    truths = np.arange(15) % 3
    features = rng.normal(size=(15, 2)) + 1.2 * np.array([[1, 0], [0, 1], [-1, -1]])[truths]
    X, y = list(zip(features, truths.tolist(), strict=True)), truths.tolist()
    weights = rng.uniform(0.5, 2.0, size=15)
    model = SlackClasses()
    psi = [np.array([-model.joint_feature(x, k) for k in range(3)]) for x in X]
    pairs = Enumerated(psi, [COSTS[k] for k in truths], [range(3)] * 15, block_weights(15, weights))
    return X, y, weights, pairs


@pytest.mark.parametrize("bounded", [False, True])
def test_every_model_is_within_eps(problem, bounded):
    X, y, weights, pairs = problem
    box = (np.full(6, -0.4), np.full(6, 0.6)) if bounded else None
    estimator = StructuredSVM(
        SlackClasses(), solver=BCFW(), bounds=box, max_iter=10_000, random_state=0
    )
    path = RegularizationPath(estimator, eps=EPS, lam_min=1e-2)
    path.fit(X, y, sample_weight=weights)
    unit = pairs.primal(np.zeros(6), 1.0)
    assert unit > 1  # losses are costs: eps counts in units of their mean maximum
    assert len(path.lams_) > 3
    assert path.certified_
    rng = np.random.default_rng(0)
    for lam in np.exp(rng.uniform(np.log(1e-2), np.log(4 * path.lams_[0]), 40)):
        w = path.coef_at(lam)
        _, optimum = solve_primal(pairs, lam, box)
        assert -1e-8 <= pairs.primal(w, lam) - optimum <= EPS * unit + 1e-9
        dual = path.dual_objective_at(lam)
        assert dual <= optimum + 1e-8
        assert pairs.primal(w, lam) - dual <= path.gap_at(lam) + 1e-9


def test_a_search_that_misses_the_maximum_bounds_the_gaps_of_a_path():
    X, y = make_chains(20, random_state=0)
    tagger = SequenceTagger(rescaling=SlackRescaling("bisecting"), random_state=0)
    path = RegularizationPath(tagger, eps=EPS, lam_min=0.01).fit(X, y)
    assert path.certified_
    assert path.max_gap_ > EPS
    exact = clone(tagger).set_params(rescaling="slack")
    problem = exact._make_task(X, y, None).problem
    for lam in np.geomspace(0.01, 3 * path.lams_[0], 30):
        w = path.coef_at(lam)
        hinges = make_pool(problem).hinges(np.concatenate([w, np.zeros(16)]))
        primal = 0.5 * lam * float(w @ w) + hinges.mean()
        assert primal <= path.primal_objective_at(lam) + 1e-9
        assert primal - path.dual_objective_at(lam) <= path.gap_at(lam) + 1e-9
        assert path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)
        tight = clone(exact).set_params(lam=lam, tol=0.05).fit(X, y)
        assert path.dual_objective_at(lam) <= tight.primal_objective_ + 1e-9
        assert path.estimator_at(lam).dual_gap_ == path.gap_at(lam)
