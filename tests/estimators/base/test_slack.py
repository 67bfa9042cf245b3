"""Slack rescaling reaches the optimum of its problem through estimators and solvers."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.fits import SOLVERS, matchings
from helpers.objectives import bracket
from helpers.qp import solve_primal
from helpers.refusals import refused
from helpers.slack import slack_pairs
from helpers.structures import Matching
from helpers.toys import SEARCHABLE, TOYS
from sklearn.base import clone

from sskit import SequenceTagger, SlackRescaling, StructuredSVM
from sskit.datasets import make_digit_strings

NAMES = ["bcfw, plain", "bcfw, cache", "bcfw, batches", "fw", "mpbcfw", "ssg"]
LAM = 0.1

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


TURNS = [
    (name, search)
    for name in sorted(TOYS)
    for search in ("exact", "angular", "bisecting")[0 if name in SEARCHABLE else 2 :]
]


@pytest.mark.parametrize(("turn", "solver"), in_turn(TURNS, NAMES, 3))
def test_solvers_reach_the_optimum(turn, solver):
    name, search = turn
    size = {"multiclass": 12, "components": 12, "multilabel": 6, "ranking": 6}.get(name, 5)
    toy = TOYS[name](weights=np.random.default_rng(0).uniform(0.5, 2.0, size=size))
    pairs, problem = slack_pairs(toy.pairs), SlackRescaling(search).wrap(toy.problem)
    _, optimum = solve_primal(pairs, LAM)
    options = {"tol": 0.02, "max_iter": 1000, "random_state": 0}
    solution = SOLVERS[solver].solve(problem, toy.regularizer(LAM), **options)
    primal = pairs.primal(toy.flat(solution.w), LAM)
    assert solution.unit == pytest.approx(pairs.primal(np.zeros(pairs.d), LAM))
    assert solution.certified
    assert solution.dual <= optimum + 1e-9
    if search == "bisecting":  # what it misses stays violated, but it bounds that
        assert solution.primal >= primal - 1e-9
        assert solution.gap >= primal - solution.dual - 1e-9
        assert solution.primal - solution.inexactness <= primal + 1e-9
        assert primal - optimum <= 0.2 * solution.unit
    else:
        assert solution.gap <= 0.02 * (solution.primal + 1e-3 * solution.unit)
        assert solution.primal == pytest.approx(primal)
        assert primal - optimum <= solution.gap + 1e-9


X, Y = make_digit_strings(60, random_state=0)


def test_searches_of_the_tagger():
    tagger = SequenceTagger(rescaling="slack", tol=0.05, random_state=0).fit(X, Y)
    assert tagger.certified_ and tagger.score(X, Y) > 0.9
    margin = SequenceTagger(tol=0.05, random_state=0).fit(X, Y)
    assert not np.allclose(tagger.coef_, margin.coef_)
    for search in ("angular", "bisecting"):
        other = clone(tagger).set_params(rescaling=SlackRescaling(search)).fit(X, Y)
        assert other.n_oracle_calls_ > 1.5 * len(X) * other.n_iter_
        bracket(tagger, other)
        assert ("inexactness" in other.history_) == (search == "bisecting")
    whole = dict.fromkeys(np.unique(np.concatenate(list(Y))), 1.0) | {Y[0][0]: 2.0}
    for weights, counted in (("balanced", False), (whole, True)):  # balanced losses do not count
        weighted = clone(tagger).set_params(class_weight=weights).fit(X, Y)
        assert ("inexactness" not in weighted.history_) == counted
    # planes of another search are the same
    warm = clone(tagger).set_params(warm_start=True).fit(X, Y)
    warm.set_params(rescaling=SlackRescaling("angular")).fit(X, Y)
    assert warm.n_iter_ < tagger.n_iter_


def test_structure_of_your_own():
    X, y = matchings(20)
    options = {"rescaling": "slack", "lam": 0.01, "random_state": 0, "max_iter": 50}
    model = StructuredSVM(Matching(), warm_start=True, **options).fit(X, y)
    assert model.certified_
    assert model.dual_gap_ >= model.history_["inexactness"][-1]
    assert model.score(X, y) > 0.6 and model.n_oracle_calls_ > 20
    first = model.dual_objective_
    assert model.fit(X, y).dual_objective_ >= first - 1e-9


def test_wrong_searches_leave_the_estimator_alone():
    tagger = SequenceTagger(max_iter=2, tol=1.0, class_weight="balanced").fit(X, Y)
    for bad, told in (
        (SlackRescaling("best"), "'search' parameter"),
        (SlackRescaling("exact"), "search='exact' needs an exact oracle"),
    ):
        tagger.set_params(rescaling=bad)
        with refused(tagger, ValueError, told):
            tagger.fit(X, Y)
