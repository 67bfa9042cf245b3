"""Oracles of factors: in sublinear time what comparing all states finds."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.factors import edge_gains, node_gains
from helpers.laws import start_run
from helpers.toys import chain_toy
from sskit_probes.factor_probe import FactorProbe, look_at, mixes, renew

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.models.chain.model import ChainModel
from sskit.solvers import GDMM
from sskit.solvers.dual_decomposition import gdmm
from sskit.utils import RaggedArray

LAM = 0.05


def chains(seed, n_states, n=6, lengths=(6, 3, 1), p=2):
    """Chains with too many labellings to enumerate."""
    rng = np.random.default_rng(seed)
    lengths = np.resize(lengths, n)
    offsets = np.concatenate([[0], lengths.cumsum()])
    stacked = RaggedArray(rng.normal(size=(offsets[-1], p)), offsets)
    labels = rng.integers(n_states, size=offsets[-1])
    problem = ChainModel(p, n_states).bind(stacked, labels, np.ones(offsets[-1]), block_weights(n))
    make_regularizer = lambda lam, box: Regularizer(lam, problem.n_weights)  # noqa: E731
    return SimpleNamespace(problem=problem, n=n, regularizer=make_regularizer)


def start(toy, **options):
    return start_run(GDMM(**options), toy, LAM)


def random_table(rng, n_states):
    """Weights of pairs: a fraction is zero, some are equal, of either or of one sign."""
    table = rng.integers(-3, 4, size=n_states**2) * rng.choice([0.03, 0.3, 3.0])
    if rng.random() < 0.5:
        table = table + rng.normal(size=len(table))
    table[rng.random(len(table)) < rng.choice([0.0, 0.5, 0.95, 1.0])] = 0.0
    return rng.choice([-1.0, 1.0]) * np.abs(table) if rng.random() < 0.4 else table


@pytest.mark.parametrize(("n_states", "many"), [(2, 1), (3, 1), (7, 1), (20, 1), (8, 1000)])
def test_edges_on_random_states(n_states, many, monkeypatch):
    """By the weights of a run and by random ones: 750 states for each number of labels."""
    monkeypatch.setattr(gdmm, "MANY", many)
    rng, n_asked = np.random.default_rng(n_states), 0
    for seed in range(3):
        toy = chains(seed, n_states)
        run, probe = start(toy, rho=0.3), FactorProbe(toy.problem.decomposition())
        weights = np.asarray(run.regularizer.v)
        place = probe.factors.pair_weights
        for n in range(18):
            if n % 6 == 0:
                run.run_pass()
                check_edges(probe, run, toy)
            weights[place : place + n_states**2] = random_table(rng, n_states)
            renew(run.sweep)
            n_asked += check_edges(probe, run, toy)
    assert n_asked >= 750


def check_edges(probe, run, toy):
    """Compare the pairs that the oracle finds with all of them; return how many edges there are."""
    edges = [(i, edge) for i in range(toy.n) for edge in probe.edges(i)]
    for i, edge in edges:
        gains = edge_gains(probe, run, i, edge)
        pair, gain = look_at(run.sweep, i, probe.factors.n_nodes + edge[0])
        assert gain == pytest.approx(gains.max(), abs=1e-11)
        assert gain == pytest.approx(gains.ravel()[pair], abs=1e-11)
    return len(edges)


def test_ordered_search_looks_at_fewer_pairs(monkeypatch):
    compared = {}
    for n_states in (40, 80):
        toy = chains(0, n_states, n=10, lengths=(5,), p=3)
        for name, many in (("plain", 1000), ("ordered", 1)):
            monkeypatch.setattr(gdmm, "MANY", many)
            run = start(toy)
            for _ in range(5):
                run.run_pass()
            # nodes score all labels
            compared[name, n_states] = run.sweep.n_compared - 5 * 50 * n_states
    assert compared["plain", 80] > 3.9 * compared["plain", 40]
    assert compared["ordered", 80] < 2.0 * compared["ordered", 40]
    assert compared["ordered", 80] < 0.1 * compared["plain", 80]


def test_parts_of_the_labels(monkeypatch):
    for toy in (chains(4, 5), chains(3, 11)):  # of the first one part is all
        run, probe = start(toy), FactorProbe(toy.problem.decomposition())
        parts = run.sweep.n_parts
        assert parts == (1 if probe.factors.n_states == 5 else 3)
        for _ in range(3):
            run.run_pass()
        for i in range(toy.n):
            for j in probe.nodes(i):
                gains = node_gains(probe, run, i, j)
                active = gains[mixes(run.sweep)[0][j][0]].max()
                found = [look_at(run.sweep, i, j) for _ in range(60 if parts > 1 else 1)]
                for state, gain in found:
                    assert gain == pytest.approx(gains[state], abs=1e-12)
                    assert gain >= active - 1e-12
                # never worse than what is in the mix, and the best sooner or later
                assert max(gain for _, gain in found) == pytest.approx(gains.max(), abs=1e-12)
                assert gains.argmax() in {state for state, _ in found}
        monkeypatch.setattr(gdmm, "PART", 3)
        monkeypatch.setattr(gdmm, "PRODUCTS", 1)


def test_ordered_pairs_need_a_table_and_many_labels_have_orders_and_parts(monkeypatch):
    for n_states, ordered in ((gdmm.MANY, True), (gdmm.MANY - 1, False)):
        assert start(chains(7, n_states)).sweep.ordered is ordered
    for n_states, p, n_parts in ((199, 85, 1), (200, 85, 2), (350, 200, 3), (350, 25, 1)):
        toy = chains(8, n_states, n=2, p=p)
        assert toy.problem.decomposition().n_terms == p
        assert start(toy).sweep.n_parts == n_parts
    monkeypatch.setattr(gdmm, "MANY", 1)
    allowed = np.array([[True, True], [False, True]])
    for toy, ordered in ((chain_toy(6, n_states=2, allowed=allowed), False), (chains(6, 2), True)):
        assert start(toy).sweep.ordered is ordered
