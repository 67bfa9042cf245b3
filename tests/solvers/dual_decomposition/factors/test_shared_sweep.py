"""Rounds of many workers over factors: the Lagrangian never rises, and the clock says nothing."""

import gc

import numpy as np
import pytest
from helpers.toys import chain_toy
from scipy.sparse import csr_array

from sskit import SequenceTagger
from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.core.stop import Stop
from sskit.datasets import make_chains
from sskit.inputs.ragged import stack_sequences
from sskit.models.chain.model import ChainModel
from sskit.parallel import crew
from sskit.solvers import GDMM, SoftBCFW
from sskit.solvers.dual_decomposition import gdmm
from sskit.solvers.dual_decomposition.factors.shared_sweep import SharedSweep
from sskit.solvers.dual_decomposition.factors.sweep import Sweep
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing.factor_probe import FactorProbe

LAM = 0.1
OPTIONS = [
    {},
    {"method": "afw", "block_sweeps": 2},
    {"ordered": True, "stored_passes": 2},
    {"partitions": 2, "step": 0.5, "stored_passes": 0},
]
every_option = pytest.mark.parametrize(
    "options", OPTIONS, ids=lambda o: "-".join(map(str, o.values())) or "auto"
)


def make(n=24, **kwargs):
    weights = np.random.default_rng(5).uniform(0.2, 2.0, size=n)
    weights[3] = 0.0
    return chain_toy(5, n=n, weights=weights, lengths=(1, 2, 3, 4), **kwargs)


def start(toy, n_jobs, options, lam=LAM):
    pool = make_pool(toy.problem, n_jobs)
    return GDMM(**options).start(
        toy.problem, toy.regularizer(lam), np.random.RandomState(0), None, pool
    )


@pytest.fixture
def nobody_helps(monkeypatch):
    """The system has no room for threads: the leader does all parts."""

    def refuse(**options):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(crew, "Thread", refuse)


@every_option
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n_jobs", [2, 3, 5])
def test_the_lagrangian_never_rises_and_is_that_of_the_factors(n_jobs, form, options):
    toy = make(form=form)
    run = start(toy, n_jobs, options)
    assert isinstance(run.sweep, SharedSweep)
    assert len(run.sweep.shards) == n_jobs
    for _ in range(15):
        run.run_pass()
        assert run.decrease >= -1e-12
        # what rounds say of themselves is true
        value = run.state.lagrangian()
        assert run.lagrangian == pytest.approx(value, abs=1e-10)
        weights = [np.array(shard.sweep.state.w) for shard in run.sweep.shards]
        for w in weights[1:]:
            np.testing.assert_allclose(w, weights[0], atol=1e-11)
        for states, q in sum(run.state.mixes(), []):
            assert len(set(states)) == len(states)
            assert (q > 0).all()
            assert q.sum() == pytest.approx(1.0, abs=1e-12)
        run.sweep.rebuild()
        np.testing.assert_allclose(run.state.w, weights[0], atol=1e-11)
        for shard in run.sweep.shards:
            np.testing.assert_array_equal(shard.sweep.state.w, run.state.w)


def same_blocks(n):
    """Blocks of the same features and labels: all shards want the same of the same weights."""
    x, n_states = np.random.default_rng(0).normal(size=(3, 2)), 4
    stacked = stack_sequences([x] * n)
    model = ChainModel(2, n_states)
    return model.bind(stacked, np.tile([0, 1, 3], n), np.ones(3 * n), block_weights(n))


def infeasibility(problem, state):
    """Mean total variation between nodes and the marginals of edges there."""
    probe, apart = FactorProbe(problem.decomposition()), []
    nodes, edges = state.mixes()
    for i in range(problem.n_blocks):
        for e, *ends in probe.edges(i):
            table = np.zeros(16)
            table[edges[e][0]] = edges[e][1]
            for side in range(2):
                residual = table.reshape(4, 4).sum(axis=1 - side)
                residual[nodes[ends[side]][0]] -= nodes[ends[side]][1]
                apart.append(np.abs(residual).sum() / 2)
    return np.mean(apart)


@pytest.mark.parametrize("n_jobs", [2, 4])
@pytest.mark.parametrize("ordered", [False, True])
def test_rounds_that_would_raise_the_lagrangian_leave_it_to_one_shard(n_jobs, ordered):
    problem = same_blocks(400)
    regularizer = Regularizer(1e-3, problem.n_weights)
    run = GDMM(stored_passes=2, ordered=ordered).start(
        problem, regularizer, np.random.RandomState(0), None, make_pool(problem, n_jobs)
    )
    for _ in range(6):
        run.run_pass()
        assert run.decrease >= -1e-12
        assert run.lagrangian == pytest.approx(run.state.lagrangian(), abs=1e-9)
        assert run.infeasibility == pytest.approx(infeasibility(problem, run.state), abs=1e-12)
        before = [np.array(shard.sweep.state.w) for shard in run.sweep.shards]
        run.sweep.rebuild()
        for w in before:
            np.testing.assert_allclose(w, run.state.w, atol=1e-9)
    assert run.sweep.n_returns > 0
    assert run.sweep.n_returns < run.sweep.n_rounds


@every_option
def test_bits_depend_on_seed_and_number_of_jobs_only(options, request):
    toy = make(n=40)

    def solve(n_jobs):
        return GDMM(**options).solve(
            toy.problem, toy.regularizer(LAM), tol=1e-9, max_iter=12, n_jobs=n_jobs, random_state=3
        )

    one, other = solve(3), solve(3)
    np.testing.assert_array_equal(one.w, other.w)
    assert solve(2).w.tolist() != one.w.tolist()
    np.testing.assert_array_equal(solve(1).w, solve(None).w)
    # whoever does the parts
    request.getfixturevalue("nobody_helps")
    np.testing.assert_array_equal(solve(3).w, one.w)


@pytest.mark.parametrize("options", OPTIONS[:3], ids=["auto", "afw", "ordered"])
def test_same_optimum_as_one_worker(options):
    toy = make()
    one, many = (
        GDMM(**options, gap_every=5).solve(
            toy.problem, toy.regularizer(LAM), tol=2e-2, max_iter=3000, n_jobs=k, random_state=0
        )
        for k in (1, 4)
    )
    assert one.certified and many.certified
    assert many.primal >= one.dual - 1e-12 and one.primal >= many.dual - 1e-12
    assert many.history["n_scores"][-1] > 0


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.8])
def test_momentum_brings_many_workers_as_far_as_one(momentum):
    toy = make(n=40)
    one, *others = (
        GDMM(momentum=momentum, rho=3.0, block_sweeps=2, gap_every=None).start(
            toy.problem, toy.regularizer(LAM), np.random.RandomState(0), None, pool
        )
        for pool in (None, *(make_pool(toy.problem, k) for k in (2, 3)))
    )
    for run in (one, *others):
        for _ in range(200):
            run.run_pass()
        run.sweep.rebuild()
        # the augmented Lagrangian tends to minus the optimum where factors agree
        assert run.infeasibility < 1e-3
        assert run.state.lagrangian() == pytest.approx(one.state.lagrangian(), rel=1e-3)
        assert run.lower_bound() == pytest.approx(one.lower_bound(), rel=1e-3)
        np.testing.assert_allclose(run.weights(), one.weights(), atol=2e-2)


def test_who_has_workers():
    toy = make()
    assert isinstance(start(toy, 1, {}).sweep, Sweep)
    # few blocks are not worth it
    assert isinstance(start(chain_toy(0), 2, {}).sweep, Sweep)
    assert len(start(make(9), 8, {}).sweep.shards) == 2
    run = SoftBCFW().start(
        toy.problem, toy.regularizer(LAM), np.random.RandomState(0), None, make_pool(toy.problem, 2)
    )
    assert isinstance(run.sweep, Sweep)


def test_copies_of_very_many_weights_are_few(monkeypatch):
    toy = make()
    monkeypatch.setattr(gdmm, "MOST_COPIED", 2 * toy.problem.n_weights)
    assert len(start(toy, 5, {}).sweep.shards) == 3
    monkeypatch.setattr(gdmm, "MOST_COPIED", 0)
    assert isinstance(start(toy, 5, {}).sweep, Sweep)


def test_a_pass_ends_where_its_time_is_over():
    toy = make(n=200)
    run = start(toy, 2, {})
    run.stop = Stop(1e-9)
    run.stop.begin_pass()
    run.run_pass()
    assert np.isnan(run.infeasibility)
    # what was done by then is done everywhere
    value = run.state.lagrangian()
    run.sweep.rebuild()
    assert run.state.lagrangian() == pytest.approx(value, abs=1e-12)
    run.stop = Stop()
    run.run_pass()
    assert run.infeasibility >= 0.0


def test_of_an_estimator():
    X, y = make_chains(60, n_states=3, n_features=4, random_state=0)
    tagger = SequenceTagger(lam=0.1, solver=GDMM(), n_jobs=2, tol=0.05, random_state=0).fit(X, y)
    again = SequenceTagger(lam=0.1, solver=GDMM(), n_jobs=2, tol=0.05, random_state=0).fit(
        [csr_array(x) for x in X], y
    )
    assert tagger.certified_ and again.certified_
    np.testing.assert_allclose(tagger.coef_, again.coef_, atol=1e-9)


def test_threads_end_with_the_run():
    toy = make()
    run = start(toy, 3, {})
    run.run_pass()
    helpers = list(run.sweep.crew.threads)
    assert len(helpers) == 2
    del run
    gc.collect()
    for helper in helpers:
        helper.join(10.0)
        assert not helper.is_alive()
