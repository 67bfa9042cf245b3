"""Random products of features: certificates of one problem agree, however it is stated."""

import contextlib
import os

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import FITS

from fuzz.products import (
    NAMES,
    OWN,
    SOLVERS,
    Findings,
    Interval,
    Problem,
    attempt,
    compare,
    draw,
    run_problem,
    solve,
)
from sskit import StructSVMClassifier
from sskit.models.columns.scaling import ColumnSums

N_PROBLEMS = int(os.environ.get("SSKIT_FUZZ", "16000")) // 200
SEED = int(os.environ.get("SSKIT_SEED", "1"))


def run(seed, numbers, **options):
    findings = Findings()
    for number in numbers:
        run_problem(seed, number, findings, **options)
    assert not findings.faults, "\n\n".join(findings.faults)
    return findings


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4))
def test_random_products(first):
    numbers = range(first, N_PROBLEMS, 4)
    findings = run(SEED, numbers)
    assert findings.n_certified > 5 * len(numbers)
    assert sum(findings.refusals.values()) < 20 * len(numbers)


def test_some_products():
    assert run(0, range(4), n_ways=6).n_certified > 0


@pytest.mark.parametrize("kind", SOLVERS, ids=lambda kind: kind.__name__)
def test_the_table_knows_all_options(kind):
    assert {name: values[0] for name, values in SOLVERS[kind].items()} == kind().get_params()
    for name, values in SOLVERS[kind].items():
        for value in values:
            kind(**{name: value})


def test_problems_are_drawn_from_the_table():
    drawn = [draw(np.random.default_rng(k), "sets").estimator for k in range(20)]
    for name, values in OWN[type(drawn[0])].items():
        assert {str(getattr(model, name)) for model in drawn} == set(map(str, values))
    for name in NAMES:
        X, y = draw(np.random.default_rng(0), name).stated(copies=True)[1:3]
        assert len(y) == getattr(X, "shape", [len(X)])[0]


def classes():
    """A problem of rows and classes."""
    return Problem("rows", StructSVMClassifier(lam=0.1), np.eye(3)[[0, 1, 2, 0]], np.arange(4) % 3)


def test_intervals_that_do_not_meet_are_found():
    findings = Findings()
    compare([Interval("a", 0.1, 0.5), Interval("b", 0.4, 0.6)], classes(), findings, "told")
    assert not findings.faults
    compare([Interval("a", 0.1, 0.5), Interval("b", 0.51, 0.6)], classes(), findings, "told")
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
            with contextlib.suppress(ValueError):  # what the table knows to be refused
                solve(np.random.default_rng(seed), classes(), Findings(), [])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("weights", lambda of, X, weight, room: of(X, None, room)),
        ("storage", lambda of, X, weight, room: of(np.eye(3) if sp.issparse(X) else X, None, room)),
        ("units", lambda of, X, weight, room: of(X / X[0, 0], weight, room)),
    ],
)
def test_laws_that_do_not_hold_are_found(name, wrong, monkeypatch):
    of = ColumnSums.of
    monkeypatch.setattr(ColumnSums, "of", lambda X, weight, room: wrong(of, X, weight, room))
    X, y = FITS["rows"].data()
    weight = np.where(np.arange(len(y)) < 4, 50.0, 1.0)
    model = StructSVMClassifier(lam=0.1, random_state=0)
    problem = Problem("rows", model, X * [1, 9, 1], y, weight, whole=True)
    findings, intervals = Findings(), []
    for seed in range(40):
        intervals += attempt(solve, np.random.default_rng(seed), problem, findings, name)
    compare(intervals, problem, findings, name)
    assert any("the optimum is" in fault for fault in findings.faults)
