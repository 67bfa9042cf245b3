"""Planes of Python structures: none is lost, none stays, and labellings have keys."""

import copy
import gc
import sys
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.structures import Chains, Classes, Numbers, Signs, bind
from helpers.toys import chain_toy, keeping
from sskit_probes.core_probe import DualProbe, planes_of

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.models.structured.answers import label_key
from sskit.testing.probe import ProblemProbe


def ask(probe, i, k):
    """Make class k of a Classes problem the answer for sample i."""
    w = np.zeros((probe.problem.n_weights // 3, 3))
    w[:, k] = 100.0
    return probe.argmax(i, probe.scores(i, w.ravel()))


@pytest.fixture
def rows():
    return bind(Classes(), [np.ones(2)] * 4, [0, 1, 2, 0])


def test_planes_come_and_go(rows):
    dual = DualState(rows)
    probe, planes = DualProbe(rows, dual), rows.plane_store
    assert planes.n_planes == 0
    one, loss = ask(probe, 0, 1)
    slot = probe.insert(0, one, loss)
    assert probe.insert(0, one, loss) == slot
    two, _ = ask(probe, 0, 2)
    assert two != one
    assert planes.n_planes == 2
    assert ask(probe, 0, 1)[0] == one  # kept: the same handle; plane two is gone
    assert planes.n_planes == 1
    np.testing.assert_array_equal(probe.plane(0, one)[:6], [1, -1, 0, 1, -1, 0])
    ask(probe, 0, 0)
    assert planes.n_planes == 1
    probe.evict(0, slot)
    assert planes.n_planes == 0
    # what is forgotten cannot be kept
    code, loss = ask(probe, 0, 1)
    ask(probe, 0, 2)
    with pytest.raises(RuntimeError, match="plane 1 cannot be kept, it is no longer known"):
        probe.insert(0, code, loss)
    assert not probe.plane(0, code).any()


def test_forks_share_planes_and_drop_theirs(rows):
    fork = rows.fork()
    probe, other = ProblemProbe(rows), ProblemProbe(fork)
    one, _ = ask(other, 0, 1)
    assert ask(probe, 0, 1)[0] == one
    two, _ = ask(other, 0, 2)
    assert ask(probe, 1, 2)[0] != two
    assert rows.plane_store.n_planes == 3
    del fork, other
    gc.collect()
    assert rows.plane_store.n_planes == 2
    np.testing.assert_array_equal(probe.plane(0, one)[:6], [1, -1, 0, 1, -1, 0])
    # one is known until its block is asked again
    code = [ask(probe, i, k)[0] for i, k in enumerate((1, 2, 1, 2))]
    for i, k in enumerate((1, 2, 1, 2)):
        assert probe.plane(i, code[i])[k] == -1.0
    assert len({int(word[0]) for word in code}) == rows.plane_store.n_planes == 4


def test_many_planes():
    problem = bind(Numbers(), [0, 1], [0, 0], exact=False)
    probe, rng = DualProbe(problem, DualState(problem)), np.random.default_rng(0)
    held, last = [{}, {}], [None, None]  # code of kept planes by block and labelling
    for _ in range(3000):
        i, y = int(rng.integers(2)), int(rng.integers(1, 900))
        code, loss = probe.argmax(i, probe.scores(i, np.array([float(y), 0.0])))
        assert probe.plane(i, code)[1] == -y
        np.testing.assert_array_equal(held[i].get(y, code), code)
        held[i][y], last[i] = code, y
        probe.insert(i, code, loss)
        if rng.random() < 0.4:
            gone = int(rng.choice(list(held[i])))
            probe.evict(i, probe.find(i, held[i].pop(gone)))
    for i in range(2):
        for y, code in held[i].items():
            assert probe.plane(i, code)[1] == -y
    n_pending = sum(y not in known for y, known in zip(last, held, strict=True))
    assert problem.plane_store.n_planes == len(held[0]) + len(held[1]) + n_pending > 500


@pytest.mark.parametrize("plane_life", [1, 100])
def test_the_solver_holds_what_it_stores(plane_life):
    toy = chain_toy(0, n=7)
    chains = bind(Chains(toy.n_states), toy.X, list(toy.truths()))
    for _ in range(2):  # what is solved leaves only pending planes
        regularizer = Regularizer(0.1, chains.n_weights)
        solver, options = keeping(plane_life)(steps="pairwise"), {"n_jobs": 2, "random_state": 0}
        solution = solver.solve(chains, regularizer, tol=1e-4, **options)
    gc.collect()
    code = [planes_of(solution.fit.run.dual, i)[0].ravel() for i in range(7)]
    stored = set(np.concatenate(code).tolist()) - {0}
    assert len(stored) <= chains.plane_store.n_planes <= len(stored) + 7
    for i in range(7):
        for word in code[i]:
            assert ProblemProbe(chains).plane(i, [word]).any() == (word != 0)
    del solution
    gc.collect()
    assert chains.plane_store.n_planes <= 7
    # the problem holds it by one name, its structure by two
    assert sys.getrefcount(chains.plane_store) <= 5


@dataclass
class Record:
    """A labelling that cannot be hashed."""

    values: list


class Plain:
    """A labelling that hashes by identity."""

    def __init__(self, value):
        self.value = value


LABELS = [
    1, "a", (1, "a"), frozenset({1}), None, np.arange(3), np.array(["a", None], dtype=object),
    [np.arange(2), np.ones(2)], [1, [2, (3,)]], {"a": np.arange(2)}, {1, 2}, Record([1, 2]),
    Plain(3), sp.csr_array(np.eye(2)),
]  # fmt: skip


def test_keys_of_labels():
    for y in LABELS:
        again = copy.deepcopy(y)
        assert label_key(y) == label_key(again)
        assert hash(label_key(y)) == hash(label_key(again))
        assert label_key(y) != label_key([y, y])
    arrays = [np.zeros(4, int), np.zeros((2, 2), int), np.zeros(4), np.zeros(8, np.int32)]
    assert len({label_key(a) for a in arrays}) == 4
    model = Signs({"joint_feature": lambda x, y: x, "loss": lambda y_true, y: 0.0})
    with pytest.raises(TypeError, match="a labelling of sample 1 is of type list, which can"):
        bind(model, [np.ones(2)] * 2, [1, [lambda: 0]])
