"""Random products of features: certificates of one problem agree, paths agree with tight fits."""

import numpy as np
import pytest

from fuzz.options import REFUSALS, SOLVERS
from fuzz.problems import PROBLEMS
from fuzz.products import Findings, Interval, choose, compare, run_problem, solve, trace
from sskit import RegularizationPath, StructSVMClassifier

N_PROBLEMS = 80


@pytest.mark.slow
def test_random_products():
    findings = Findings()
    for number in range(N_PROBLEMS):
        run_problem(1, number, findings)
    assert not findings.faults, "\n\n".join(findings.faults)
    assert findings.n_certified > 5 * N_PROBLEMS
    assert findings.n_paths > 0.2 * N_PROBLEMS
    assert sum(findings.refusals.values()) < 15 * N_PROBLEMS


def test_some_products():
    findings = Findings()
    for number in range(4):
        run_problem(0, number, findings, n_ways=6)
    assert not findings.faults
    assert findings.n_certified > 0


@pytest.mark.parametrize("kind", SOLVERS, ids=lambda kind: kind.__name__)
def test_the_table_knows_all_options(kind):
    defaults = {name: values[0] for name, values in SOLVERS[kind].items()}
    assert defaults == kind().get_params()
    for name, values in SOLVERS[kind].items():
        for value in values:
            kind(**{name: value})


def problem(seed=0):
    """A problem of rows and classes."""
    rng = np.random.default_rng(seed)
    chosen = {"fit_intercept": True, "class_weight": None, "kernel": "linear", "gamma": 0.5}
    chosen |= {"loss": "zero_one", "lam": 0.1, "rescaling": "margin"}
    chosen |= {"weights": None, "bounds": None}
    return PROBLEMS["classifier"](rng, chosen)


def test_intervals_that_do_not_meet_are_found():
    findings = Findings()
    compare([Interval("a", 0.1, 0.5), Interval("b", 0.4, 0.6)], problem(), findings, "told")
    assert not findings.faults
    compare([Interval("a", 0.1, 0.5), Interval("b", 0.51, 0.6)], problem(), findings, "told")
    assert findings.faults == ["told: the optimum is >= 0.51 by b but <= 0.5 by a"]


@pytest.mark.filterwarnings("ignore:.*stopped after")
def test_wrong_certificates_are_found(monkeypatch):
    plain = StructSVMClassifier._fit

    def wrong(self, *data):
        fitted = plain(self, *data)
        return fitted | {"dual_objective_": fitted["primal_objective_"] * 1.001}

    monkeypatch.setattr(StructSVMClassifier, "_fit", wrong)
    with pytest.raises(AssertionError, match="the gap is negative"):
        for seed in range(20):
            solve(np.random.default_rng(seed), plain_margin(), Findings(), [])


def plain_margin():
    """A problem that is not stated otherwise."""
    found = problem()
    found.twins = []
    return found


@pytest.mark.filterwarnings("ignore:.*(stopped after|path ends)")
@pytest.mark.parametrize("method", ["gap_at", "dual_objective_at"])
def test_wrong_paths_are_found(monkeypatch, method):
    plain = getattr(RegularizationPath, method)
    wrong = {"gap_at": lambda v: 0.5 * v, "dual_objective_at": lambda v: 1.5 * v}[method]
    monkeypatch.setattr(RegularizationPath, method, lambda self, lam: wrong(plain(self, lam)))
    with pytest.raises(AssertionError, match="lam="):
        for seed in range(20):
            trace_any(np.random.default_rng(seed))


def trace_any(rng):
    """Trace a path, whatever is refused."""
    try:
        trace(rng, problem(), Findings(), [])
    except ValueError as error:
        assert any(refusal.sentence for refusal in REFUSALS), str(error)


def test_choices_come_from_the_table():
    table = {"a": [1, 2], "b": ["x"]}
    found = [choose(np.random.default_rng(k), table) for k in range(20)]
    assert {one["a"] for one in found} == {1, 2}
    assert all(one["b"] == "x" for one in found)
    assert choose(np.random.default_rng(0), table, default=1.0) == {"a": 1, "b": "x"}
