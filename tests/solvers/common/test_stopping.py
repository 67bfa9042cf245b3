"""The loop around the passes: when it stops, what it says and keeps, and Ctrl-C."""

import copy
import logging
import re
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from helpers.toys import TOYS, chain_toy
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sskit_probes.unreliable import UnreliableProblem

from sskit import StructSVMClassifier
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, Subgradient
from sskit.solvers.common import fit as progress
from sskit.solvers.common.solution import Status

LAM = 0.1


def solve(solver, toy=None, **options):
    toy = chain_toy(51) if toy is None else toy
    return solver.solve(toy.problem, toy.regularizer(LAM), random_state=0, **options)


SOLVERS = [BCFW(averaging=False), BCFW(averaging=True), FrankWolfe(), Subgradient(), MultiPlane()]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_history(solver):
    toy = chain_toy(51)
    solution = solve(clone(solver).set_params(gap_every=4), toy, tol=0, max_iter=18)
    history = solution.history
    assert set(history) == {"n_passes", "n_oracle_calls", "time", "primal", "dual", "gap"}
    assert {len(column) for column in history.values()} == {len(history["gap"])}
    assert (np.diff(history["n_passes"]) > 0).all()
    assert (np.diff(history["n_oracle_calls"]) > 0).all()
    assert (np.diff(history["time"]) >= 0).all()
    assert history["n_passes"].dtype == history["n_oracle_calls"].dtype == np.int64
    assert {4, 8, 12, 16, 18} <= set(history["n_passes"].tolist())
    assert history["n_passes"][-1] == solution.n_iter == 18
    assert history["n_oracle_calls"][-1] == solution.n_oracle_calls
    # an exact pass for P(0), then one for the last iterate and one for the average, if any
    exact_passes = 1 + len(history["gap"]) * (2 if getattr(solver, "averaging", False) else 1)
    assert solution.n_oracle_calls == 5 * (18 + exact_passes)
    assert history["dual"][-1] == solution.dual
    # of the weights that were seen those with the lowest primal
    assert history["primal"].min() == solution.primal
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-12)
    assert toy.pairs.primal(toy.flat(solution.w), LAM) == pytest.approx(solution.primal, abs=1e-10)


def test_tolerance_is_relative_to_the_loss_at_zero():
    for mean in (True, False):
        solution = solve(BCFW(), chain_toy(52, mean=mean, lengths=(4,)), tol=0.05)
        assert solution.unit == pytest.approx(1.0 if mean else 4.0)
        assert solution.status is Status.CONVERGED
        assert solution.gap <= 0.05 * solution.unit
        assert solution.status.value == "The duality gap is within the tolerance."


def test_converged_is_noticed_between_the_regular_exact_passes():
    often, seldom = (
        solve(BCFW(gap_every=gap_every), tol=0.1, max_iter=1000) for gap_every in (1, 1000)
    )
    assert seldom.status is Status.CONVERGED
    assert often.n_iter <= seldom.n_iter + 2 < 1000  # exact passes renew gaps: other steps
    assert seldom.n_oracle_calls <= often.n_oracle_calls


def test_max_iter():
    solution = solve(BCFW(), tol=0, max_iter=3)
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter == 3
    assert "increase max_iter, tol or lam" in solution.status.value


def test_convergence_in_the_last_pass_is_convergence():
    needed = solve(BCFW(gap_every=1), tol=0.1).n_iter
    solution = solve(BCFW(gap_every=1), tol=0.1, max_iter=needed)
    assert (solution.status, solution.n_iter) == (Status.CONVERGED, needed)


def test_max_time():
    began = time.perf_counter()
    solution = solve(BCFW(steps="fw", max_time=0.05), tol=0, max_iter=10**9)
    assert solution.status is Status.MAX_TIME
    assert 0.05 <= time.perf_counter() - began < 5.0
    assert "max_time of the solver" in solution.status.value


def test_callback_stops_without_a_warning():
    seen = []

    def on_pass(n_iter, weights):
        seen.append((n_iter, weights()))
        return n_iter == 4

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(BCFW(averaging=False), tol=0, on_pass=on_pass)
    assert solution.status is Status.CALLBACK
    assert solution.status.value == "A callback stopped the fit."
    assert [n_iter for n_iter, _ in seen] == [1, 2, 3, 4]
    np.testing.assert_allclose(seen[-1][1], solution.w, atol=1e-14)
    assert not np.shares_memory(seen[0][1], seen[1][1])
    assert solution.history["n_passes"].tolist() == [4]


@pytest.mark.parametrize("verbose", [0, 1])
def test_log(caplog, verbose):
    with caplog.at_level(logging.DEBUG, logger="sskit"):
        solution = solve(BCFW(gap_every=2), tol=0, max_iter=5, verbose=verbose)
    assert len(caplog.records) == len(solution.history["gap"])
    assert {record.levelname for record in caplog.records} == {"INFO" if verbose else "DEBUG"}
    assert caplog.messages[-1].startswith("BCFW: pass 5, primal 0.")


def test_without_logging_a_verbose_fit_prints(capfd):
    solution = solve(BCFW(gap_every=2), tol=0, max_iter=5, verbose=1)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == len(solution.history["gap"])
    assert re.fullmatch(
        r"BCFW: pass 5, primal \S+, dual \S+, gap \S+ \(\S+ of the objective\), \S+ s", lines[-1]
    )
    solve(BCFW(), tol=0, max_iter=5, verbose=0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n_lines", [0, 3])
def test_a_line_a_second(n_lines, monkeypatch, capfd):
    monkeypatch.setattr(progress, "EVERY", 0.0 if n_lines else 1e9)
    solve(BCFW(gap_every=4), tol=0, max_iter=4, verbose=1)
    lines = capfd.readouterr().out.splitlines()
    told = r"pass [123], gap about \S+ of the objective, "
    between = [line for line in lines if re.search(told, line)]
    assert len(between) == n_lines == len(lines) - 1
    monkeypatch.setattr(progress, "EVERY", 0.0)
    solve(Subgradient(gap_every=4), tol=0, max_iter=2, verbose=1)
    assert capfd.readouterr().out.startswith("Subgradient: pass 1, 0.0 s")


# ---- options ---------------------------------------------------------------------------------


WORD, TRUTH = r"a str among \{.*\}", r"a bool among \{.*\}"
COUNT, NATURAL = r"an int in the range \[1, inf\)", r"an int in the range \[0, inf\)"
POSITIVE = r"a float in the range \(0.0, inf\]"
# What parameters must be, and values that are something else.
WRONG = [
    (BCFW, "steps", WORD, ["newton", None]),
    (BCFW, "sampling", WORD, [None, 1]),
    (BCFW, "cache", f"{WORD} or {TRUTH}", [0, 1, "yes"]),
    (BCFW, "block_steps", f"{WORD} or {COUNT}", [0, None, 2.0, True, np.ones(2)]),
    (BCFW, "stored_passes", f"{WORD} or {NATURAL}", [-1, 0.5, False, 0.0, "steep"]),
    (
        BCFW,
        "cache_size",
        POSITIVE,
        [0, None, "1", np.nan, 10**400, -(10**400), csr_array(np.eye(2))],
    ),
    (BCFW, "averaging", f"{WORD} or {TRUTH}", [1]),
    (BCFW, "batch_size", f"{WORD} or {COUNT}", [0, 2.0, "many"]),
    (BCFW, "gap_every", COUNT, [0, 2.0, True, None]),
    (BCFW, "max_time", f"{POSITIVE} or None", [-1, np.nan, True]),
    (MultiPlane, "steps", WORD, ["auto"]),
    (MultiPlane, "sampling", WORD, ["auto"]),
    (MultiPlane, "block_steps", COUNT, [0, "auto"]),
    (MultiPlane, "max_stored_passes", NATURAL, [-1, 1.0, False]),
    (MultiPlane, "max_planes", COUNT, [0]),
    (MultiPlane, "plane_life", COUNT, [2.5, 0]),
    (MultiPlane, "clock", TRUTH, [0]),
    (MultiPlane, "averaging", TRUTH, ["auto"]),
    (MultiPlane, "cache_size", POSITIVE, [-1.0]),
    (MultiPlane, "gap_every", COUNT, [0]),
    (MultiPlane, "max_time", f"{POSITIVE} or None", [0]),
    (GDMM, "gap_every", f"{COUNT} or None", [np.ones(2)]),
    (FrankWolfe, "gap_every", COUNT, ["2"]),
    (Subgradient, "sampling", WORD, ["gap"]),
    (Subgradient, "averaging", TRUTH, ["yes"]),
]


@pytest.mark.parametrize(
    ("kind", "name", "expected", "value"),
    [(*row, value) for *row, values in WRONG for value in values],
)
def test_wrong_options(kind, name, expected, value):
    message = f"^The '{name}' parameter of {kind.__name__} must be {expected}. Got {value!r}"
    with pytest.raises(ValueError, match=message.partition("Got array")[0].partition("Got <")[0]):
        solve(kind(**{name: value}))


def test_numbers_of_numpy_are_numbers_and_some_may_be_infinite():
    BCFW(block_steps=np.int32(3), cache_size=np.float32(2.0), gap_every=2**70).check()
    BCFW(cache_size=np.inf, max_time=np.inf, stored_passes=np.int64(0)).check()


def test_resolved_solvers_name_what_they_do():
    problem = chain_toy(51).problem
    assert BCFW(averaging=False).resolved(problem).get_params() == {
        "averaging": False, "batch_size": 1, "block_steps": 5, "cache": False,
        "cache_size": 1000.0, "gap_every": 10, "max_time": None, "sampling": "permutation",
        "steps": "pairwise", "stored_passes": "slope",
    }  # fmt: skip
    plain = BCFW(steps="fw", sampling="gap").resolved(problem).get_params()
    assert (plain["steps"], plain["sampling"], plain["cache"]) == ("fw", "gap", False)
    assert (plain["block_steps"], plain["stored_passes"]) == (1, 0)
    assert plain["averaging"]
    asked = {"steps": "away", "cache": True, "block_steps": 3, "stored_passes": 2}
    assert asked.items() <= BCFW(**asked).resolved(problem).get_params().items()
    costly = UnreliableProblem(problem, 0, costly=True)
    chosen = BCFW().resolved(costly).get_params()
    assert (chosen["sampling"], chosen["cache"], chosen["averaging"]) == ("gap", True, False)
    assert (chosen["steps"], chosen["stored_passes"]) == ("pairwise", "slope")
    assert not BCFW(steps="fw").resolved(costly).cache
    assert Subgradient(gap_every=3).resolved(problem).get_params() == {
        "averaging": True, "gap_every": 3, "max_time": None, "sampling": "permutation",
    }  # fmt: skip
    for solver in (
        BCFW(averaging=True), BCFW(steps="fw"), Subgradient(sampling="uniform"),
        FrankWolfe(max_time=1.0), MultiPlane(),
    ):  # fmt: skip
        resolved = solver.resolved(problem)
        assert resolved.resolved(problem).get_params() == resolved.get_params()
        assert "auto" not in resolved.get_params().values()


# ---- Ctrl-C ----------------------------------------------------------------------------------


@pytest.fixture
def ctrl_c(own_handler):
    """Return a function that presses Ctrl-C; Python's own handler is in place."""
    return lambda: signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "solver", [BCFW(), FrankWolfe(), Subgradient(), MultiPlane(), CuttingPlane()], ids=str
)
@pytest.mark.parametrize("name", TOYS)
def test_ctrl_c_after_a_pass_ends_there(ctrl_c, solver, name):
    toy = TOYS[name](53)
    solution = solve(solver, toy, tol=0, on_pass=lambda n_iter, w: ctrl_c() if n_iter == 3 else 0)
    assert solution.status is Status.INTERRUPTED
    assert solution.n_iter == 3
    assert solution.certified
    assert solution.primal == pytest.approx(toy.pairs.primal(toy.flat(solution.w), LAM), abs=1e-12)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_third_ctrl_c_is_not_held_back(ctrl_c):
    passes = []

    def on_pass(n_iter, weights):
        passes.append(n_iter)
        for _ in range(3 if n_iter == 2 else 0):
            ctrl_c()

    with pytest.raises(KeyboardInterrupt):
        solve(BCFW(), tol=0, on_pass=on_pass)
    assert passes == [1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_foreign_handler_is_left_alone(ctrl_c):
    calls = []
    signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    solution = solve(BCFW(), tol=0, max_iter=3, on_pass=lambda n_iter, w: ctrl_c())
    assert solution.status is Status.MAX_ITER
    assert len(calls) == 3


def test_fits_in_other_threads_work():
    found = []
    thread = threading.Thread(target=lambda: found.append(solve(BCFW(), tol=0.1)))
    thread.start()
    thread.join()
    assert found[0].status is Status.CONVERGED


class Pressed(BCFW):
    """Presses Ctrl-C after the second pass, as often as `presses` says."""

    presses = 1

    def solve(self, *args, on_pass, **options):
        def pressing(n_iter, weights):
            for _ in range(self.presses if n_iter == 2 else 0):
                signal.raise_signal(signal.SIGINT)
            return on_pass(n_iter, weights)

        return super().solve(*args, on_pass=pressing, **options)


class PressedTwice(Pressed):
    """Does not wait for the certificate."""

    presses = 2


class PressedThrice(Pressed):
    """Does not wait for the model."""

    presses = 3


def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), rng.integers(3, size=40)


def test_an_interrupted_estimator_has_a_certified_model(ctrl_c):
    model = StructSVMClassifier(lam=0.01, tol=0, solver=Pressed(), random_state=0)
    with pytest.warns(ConvergenceWarning, match="after 2 passes .* The fit was interrupted"):
        model.fit(*rows())
    assert model.certified_
    assert model.n_iter_ == 2
    assert model.dual_gap_ == pytest.approx(model.primal_objective_ - model.dual_objective_)
    assert model.predict(rows()[0]).shape == (40,)


def test_a_second_ctrl_c_leaves_out_the_certificate(ctrl_c):
    model = StructSVMClassifier(lam=0.01, tol=0, solver=PressedTwice(), random_state=0)
    message = (
        "after 2 passes with a gap that nobody has computed, perhaps above tol=0. The fit was "
        "interrupted twice, .* it is not certified"
    )
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(*rows())
    assert model.n_iter_ == 2
    assert not model.certified_
    assert np.isnan([model.dual_gap_, model.primal_objective_, model.dual_objective_]).all()
    assert {len(column) for column in model.history_.values()} == {0}
    assert model.predict(rows()[0]).shape == (40,)


def test_after_a_third_ctrl_c_the_estimator_is_as_it_was(ctrl_c):
    X, y = rows()
    model = StructSVMClassifier(lam=0.1, random_state=0).fit(X[:, :2], y)
    before = copy.deepcopy({key: value for key, value in vars(model).items() if key[-1] == "_"})
    model.set_params(solver=PressedThrice(), tol=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    after = {key: value for key, value in vars(model).items() if key[-1] == "_"}
    assert set(after) == set(before)
    np.testing.assert_array_equal(after["coef_"], before["coef_"])
    assert after["n_features_in_"] == 2
