"""Compiled structures of users' own: those of the guide, with all that the contract promises."""

import os
import re
import subprocess
import sys
from functools import cache
from itertools import product
from math import isqrt
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sskit_probes.linear_chain import ChainModel
from sskit_probes.projective_parse import ParseModel

import sskit
from sskit import SlackRescaling, StructuredModel, StructuredSVM
from sskit.dask import Distributed
from sskit.models import CompiledModel, FeatureMap, FeatureRows, StateStructure
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient
from sskit.testing import check_problem

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "examples" / "compiled"
N_LABELS = 3


class Chains:
    """Small chains, enumerated."""

    model = ChainModel(N_LABELS)

    @staticmethod
    def sample(rng, n):
        return rng.normal(size=(n, 2)), rng.integers(N_LABELS, size=n)

    @staticmethod
    def labellings(x):
        return list(product(range(N_LABELS), repeat=len(x)))

    @staticmethod
    def phi(x, y):
        pairs, one_hot = np.zeros((N_LABELS, N_LABELS)), np.eye(N_LABELS)[list(y)]
        np.add.at(pairs, (y[:-1], y[1:]), 1.0)
        return np.concatenate([(x.T @ one_hot).ravel(), pairs.ravel(), one_hot[0], one_hot[-1]])


class Parses:
    """Small sentences, enumerated."""

    model = ParseModel()

    @classmethod
    def sample(cls, rng, n):
        x = rng.normal(size=(n * (n + 1), 3))
        trees = cls.labellings(x)
        return x, np.array(trees[rng.integers(len(trees))])

    @staticmethod
    @cache
    def trees(n):
        """Heads of projective trees: no circle, and no two arcs cross."""
        found = []
        for heads in product(range(n + 1), repeat=n):
            words = np.arange(1, n + 1)
            for _ in heads:
                words = np.array([0, *heads])[words]
            arcs = [sorted(arc) for arc in enumerate(heads, 1)]
            crossed = any(a < c < b < d for a, b in arcs for c, d in arcs)
            found += [] if words.any() or crossed else [heads]
        return found

    @classmethod
    def labellings(cls, x):
        return cls.trees(isqrt(len(x)))

    @staticmethod
    def phi(x, y):
        n = len(y)
        return x.reshape(n, n + 1, -1)[np.arange(n), list(y)].sum(axis=0)


def samples(family, n=12):
    """Return inputs and labellings of up to four nodes."""
    rng = np.random.default_rng(0)
    return map(list, zip(*(family.sample(rng, 1 + i % 4) for i in range(n)), strict=True))


TABLE = np.array([[0.0, 2.0, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]])


def loss(truth, y, table=None):
    """Return the mean cost of states, by default of the wrong ones, of those that are known."""
    truth, y = np.array(truth), np.array(y)
    costs = truth != y if table is None else table[truth, y]
    return np.mean(costs * (truth >= 0))


def primal(family, model, X, y, weight=None, slack=False, table=None):
    """Return P(w) of a fitted model by enumeration; a truth may be known in part."""
    w, hinges = model.coef_, []
    for x, truth in zip(X, y, strict=True):
        pairs = [(loss(truth, z, table), w @ family.phi(x, z)) for z in family.labellings(x)]
        right = max(score for cost, score in pairs if not cost)
        margins = [(cost, 1 + score - right) for cost, score in pairs]
        hinges.append(max(cost * m if slack else cost + m - 1 for cost, m in margins))
    return model.lam_ / 2 * w @ w + np.average(hinges, weights=weight)


def make(family, **given):
    given = {"lam": 0.1, "tol": 0.01, "random_state": 0} | given
    return StructuredSVM(clone(family.model), **given)


FAMILIES = pytest.mark.parametrize("family", [Chains, Parses])


@FAMILIES
def test_laws(family):
    X, y = samples(family)
    for weight in (None, np.arange(len(X)) % 3):
        check_problem(family.model.problem(X, y, weight), random_state=0)


SOLVERS = [
    *(BCFW(steps=steps) for steps in ("fw", "pairwise", "away")), BCFW(cache=True), MultiPlane(),
    FrankWolfe(), Subgradient(), CuttingPlane(),
]  # fmt: skip


@FAMILIES
def test_solvers_have_the_certified_optimum(family):
    X, y = samples(family)
    weight = np.arange(len(X)) % 3 + 0.5
    optimum = make(family, solver="cutting_plane", tol=1e-4).fit(X, y, weight)
    for given in ({"bounds": (0.0, None)}, *({"solver": solver} for solver in SOLVERS)):
        model = make(family, **given | {"tol": 0.05, "max_iter": 3000}).fit(X, y, weight)
        expected = primal(family, model, X, y, weight)
        assert model.certified_ and model.primal_objective_ == pytest.approx(expected, rel=1e-9)
        assert model.primal_objective_ >= optimum.dual_objective_ * (1 - 1e-9)
        if "bounds" in given:
            assert (model.coef_ >= 0).all()
        else:
            assert model.dual_objective_ <= optimum.primal_objective_ * (1 + 1e-9)
    near = make(family, prior=optimum.coef_, lam=1e6).fit(X, y)
    np.testing.assert_allclose(near.coef_, optimum.coef_, atol=1e-4)
    for solver in (GDMM(), SoftBCFW()):
        with pytest.raises(ValueError, match="needs"):
            make(family, solver=solver).fit(X, y)
    warm = make(family, warm_start=True).fit(X[:9], y[:9])
    passes = warm.fit(X, y).n_iter_
    assert warm.primal_objective_ == pytest.approx(primal(family, warm, X, y), rel=1e-9)
    assert warm.fit(X, y).n_iter_ <= passes


@FAMILIES
def test_slack_rescaling(family):
    X, y = samples(family)
    with pytest.raises(ValueError, match="use 'auto' or 'bisecting'"):
        make(family, rescaling=SlackRescaling(search="angular")).fit(X, y)
    model = make(family, rescaling="slack").fit(X, y)
    # searches between sums of loss and score bound what they miss
    value = primal(family, model, X, y, slack=True)
    assert model.certified_
    assert model.dual_objective_ - 1e-9 <= value <= model.primal_objective_ + 1e-9


class Classes(CompiledModel):
    """One of three classes for each row, by a structure of the package that has candidates."""

    def feature_map(self, X):
        return FeatureMap(FeatureRows(np.array(X)), np.arange(len(X) + 1), 3)

    def structure(self, map):
        return StateStructure(3)

    def states(self, y):
        return [y]

    def labelling(self, states):
        return int(states[0])


def test_slack_rescaling_is_exact_where_there_are_candidates(monkeypatch):
    rng, costs = np.random.default_rng(0), 1.0 - np.eye(3) + np.eye(3, k=1)
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    monkeypatch.setattr(Classes, "pair_costs", costs)
    given = {"rescaling": SlackRescaling(search="exact"), "lam": 0.1, "tol": 0.01}
    model = StructuredSVM(Classes(), **given, random_state=0).fit(X, y)
    scores = X @ model.coef_.reshape(2, 3)
    margins = costs[y] * (1.0 + scores - scores[np.arange(30), y][:, None])
    value = model.lam_ / 2 * model.coef_ @ model.coef_ + margins.max(axis=1).mean()
    assert model.certified_ and model.primal_objective_ == pytest.approx(value, rel=1e-9)
    assert model.predict(X).dtype.kind == "i"


def test_costs_of_pairs():
    X, y = samples(Chains)

    class Weighted(ChainModel):
        pair_costs = TABLE

    model = StructuredSVM(Weighted(N_LABELS), lam=0.1, tol=0.01, random_state=0).fit(X, y)
    value = primal(Chains, model, X, y, table=TABLE)
    assert model.primal_objective_ == pytest.approx(value, rel=1e-9)
    losses = [loss(a, b, TABLE) for a, b in zip(y, model.predict(X), strict=True)]
    assert model.score(X, y) == pytest.approx(1 - np.mean(losses))
    Weighted.pair_costs = TABLE + 1.0
    with pytest.raises(ValueError, match=r"pair_costs\[0\]\[0\] is 1, expected 0"):
        model.fit(X, y)


@FAMILIES
def test_best_labellings_and_max_marginals(family):
    X, y = samples(family)
    model = make(family).fit(X, y)
    top, marginals = model.predict_topk(X, 5, return_scores=True), model.decision_function(X)
    best = model.predict(X)
    assert model.score(X, y) == pytest.approx(1 - np.mean(list(map(loss, y, best))))
    assert all(map(np.array_equal, model.set_params(n_jobs=2).predict(X), best))
    for x, found, labellings, values, table in zip(X, best, *top, marginals, strict=True):
        every = {z: model.coef_ @ family.phi(x, z) for z in family.labellings(x)}
        ranked = np.sort([*every.values()])[::-1]
        assert every[tuple(found)] == pytest.approx(ranked[0], abs=1e-12)
        assert len({tuple(z) for z in labellings}) == len(values) == min(5, len(every))
        for at_them in (ranked[:5], [every[tuple(z)] for z in labellings]):
            np.testing.assert_allclose(values, at_them - ranked[0], atol=1e-9)
        for t, k in np.ndindex(*table.shape):
            most = max((value for z, value in every.items() if z[t] == k), default=-np.inf)
            assert table[t, k] == pytest.approx(most - ranked[0], abs=1e-9)


@FAMILIES
def test_hidden_states_are_completed(family):
    X, y = samples(family, 16)
    y = [np.where(np.arange(len(z)) == 1, -1, z) for z in y]
    for given in ({}, {"n_init": 2}, {"rescaling": "slack"}):
        model = make(family, **given).fit(X, y)
        assert (np.diff(model.round_objectives_) <= 0).all()
        if "rescaling" not in given:
            expected = primal(family, model, X, y)
            assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
    told = "data in parts cannot be combined with y, which has hidden variables"
    with pytest.raises(ValueError, match=told):
        Distributed(make(family)).fit([X, X], [y, y])


def test_wrong_truths_are_named():
    X, y = samples(Parses, 4)
    for truth, told in (
        ([3, 4, 0, 0], r"y\[3\] is no labelling that ProjectiveParse knows"),
        ([2, 1, 0, -1], r"knows no labelling that agrees with y\[3\]"),
        ([0, 0, 0], r"y\[3\] has 3 states up to 0, but X\[3\] has 4 nodes"),
        ([0.0, 0.0, 0.0, 0.0], r"the states of y\[3\] are .* whole numbers"),
    ):
        with pytest.raises(ValueError, match=told):
            make(Parses).fit(X, [*y[:3], np.array(truth)])
    with pytest.raises(ValueError, match="X has 2 weights, but the fit had 3"):
        make(Parses).fit(X[:3], y[:3]).predict([X[2][:, :2]])


@pytest.mark.parametrize(
    ("method", "answer", "error", "message"),
    [
        ("feature_map", lambda self, X: None, TypeError, "feature_map of Odd returned None"),
        ("structure", lambda self, map: StructuredModel(), TypeError, "structure of Odd returned"),
        ("costs", lambda self, states: [-1.0], ValueError, r"the costs of y\[0\]"),
    ],
)
def test_models_that_return_something_else_are_told(method, answer, error, message):
    odd = type("Odd", (Classes,), {method: answer})
    with pytest.raises(error, match=message):
        StructuredSVM(odd()).fit(np.ones((2, 1)), [0, 1])
    with pytest.raises(TypeError, match=r"got the class Odd; write Odd\(\.\.\.\)"):
        StructuredSVM(odd).fit(np.ones((2, 1)), [0, 1])
    with pytest.raises(NotImplementedError, match="CompiledModel must implement feature_map"):
        StructuredSVM(CompiledModel()).fit(np.ones((2, 1)), [0, 1])


def test_structures_import_the_promised_names_alone():
    """Those that the releases page promises; in Python they are names of sskit.models too."""
    classes = ["Block", "FeatureMap", "FeatureRows", "NodeLoss", "StateStructure", "Structure"]
    folder = Path(sskit.get_include()[0], "sskit", "models")
    imports = re.findall(r"^from .* cimport (.+)$", (folder / "__init__.pxd").read_text(), re.M)
    assert sorted(", ".join(imports).split(", ")) == classes
    promised = [*classes, "end_marks", "no_features"]
    page = (ROOT / "doc" / "developers" / "releases.rst").read_text()
    assert [name for name in promised if f"``{name}``" not in page] == []
    assert [name for name in promised[1:] if not hasattr(sskit.models, name)] == []
    for path in SOURCES.glob("*.pyx"):
        ours = re.findall(r"^from (sskit\S*) c?import", path.read_text(), re.M)
        assert ours == ["sskit.models", "sskit.models"]


def test_folders_to_compile_with_hold_all_that_is_needed():
    package, *headers = map(Path, sskit.get_include())
    assert (package / "sskit" / "models" / "structure.pxd").is_file()
    found = {path.name for folder in headers for path in folder.glob("*.hpp")}
    assert found == {path.name for path in (package / "sskit").rglob("*.hpp")} != set()


@pytest.mark.slow
def test_the_setup_of_the_guide_compiles_them(tmp_path):
    for path in SOURCES.glob("*.py*"):
        (tmp_path / path.name).write_text(path.read_text())
    path = os.pathsep.join([*sskit.get_include()[:1], os.environ.get("PYTHONPATH", "")])
    options = {"check": True, "text": True, "env": os.environ | {"PYTHONPATH": path}}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "built"]
    subprocess.run(command, cwd=tmp_path, **options)
    code = (
        "import numpy as np; from projective_parse import ParseModel; "
        "from sskit import StructSVMClassifier, StructuredSVM; x = np.eye(6); "
        "print(StructuredSVM(ParseModel()).fit([x], [np.array([2, 0])]).predict([x])[0])"
    )
    command, built = [sys.executable, "-c", code], tmp_path / "built"
    assert subprocess.run(command, cwd=built, capture_output=True, **options).stdout == "[2 0]\n"
