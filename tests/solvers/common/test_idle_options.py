"""Options either make a difference or are refused: products of two options of every solver."""

import ast
import contextlib
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.toys import chain_toy, multilabel_toy
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sskit_probes.unreliable import UnreliableProblem

from sskit import MultilabelPairwise, StructSVMClassifier
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient

LAM, BOX = 0.003, (-0.3, 0.4)
VALUES = {
    BCFW: {
        "steps": ["fw", "pairwise", "away"],
        "sampling": ["permutation", "uniform", "gap", "max_gap"],
        "cache": [True, False],
        "block_steps": [1, 3],
        "stored_passes": [0, 2, "slope"],
        "cache_size": [1e-4],
        "averaging": [True, False],
        "batch_size": [1, 3],
        "gap_every": [2],
    },
    MultiPlane: {
        "steps": ["pairwise", "away"],
        "sampling": ["uniform", "gap", "max_gap"],
        "block_steps": [3],
        "max_stored_passes": [0, 1],
        "max_planes": [2],
        "plane_life": [1],
        "clock": [True],
        "cache_size": [1e-4],
        "averaging": [False],
        "batch_size": [1, 3],
        "gap_every": [2],
    },
    Subgradient: {"sampling": ["uniform"], "averaging": [False], "gap_every": [2]},
    FrankWolfe: {"gap_every": [2]},
    CuttingPlane: {
        "cuts": ["linear", "constant"],
        "cut_size": [3],
        "patience": [2],
        "damping": [0.1],
        "cut_life": [1],
    },
    GDMM: {
        "rho": [3.0],
        "step": [0.3],
        "method": ["afw"],
        "gap_every": [2, None],
    },
    SoftBCFW: {
        "rho": [3.0],
        "steps": ["away"],
        "gap_every": [2, None],
    },
}
# How much of a thing there is before they matter, and limits that a fit of a few passes does not
# reach: where they are not refused they need not make a difference here.
AMOUNTS = {
    "cache_size", "max_planes", "clock", "patience", "cut_life",
}  # fmt: skip
# What is refused somewhere.
REFUSED = {
    (BCFW, "chains"): {"cache_size"},
    (MultiPlane, "chains"): {"clock"},
    (CuttingPlane, "chains"): {"cut_size", "patience", "damping"},
    (GDMM, "sets"): {"method"},
    (GDMM, "sets without pairs"): {"method", "rho", "step"},
    (SoftBCFW, "sets without pairs"): {"rho"},
}  # fmt: skip
CASES = [
    (kind, bounded, problem)
    for kind in VALUES
    for bounded in (False, True)
    for problem in ("chains", "sets", "sets without pairs")
    if (kind.keeps_bounds or not bounded) and (problem == "chains" or kind in (GDMM, SoftBCFW))
]


def toy_of(problem):
    """Chains, or sets of labels with and without pairs, of unequal weights."""
    if problem == "chains":
        return chain_toy(3, n=12, n_states=4, lengths=(2, 3, 4, 5), weights=np.arange(1.0, 13.0))
    n_states = 1 if problem == "sets without pairs" else 4
    return multilabel_toy(3, n=12, n_states=n_states, inference="lp")


class Fits:
    """Weights and histories of the fits of a toy, each made once."""

    def __init__(self, kind, bounded, toy):
        self.kind, self.bounded, self.toy = kind, bounded, toy
        # the same solver, with nothing refused
        self.lenient = type(kind.__name__, (kind,), {"idle": (), "__init__": kind.__init__})
        self.made = {}

    def __call__(self, options, lenient=False):
        """Columns by name, or the error message."""
        key = (lenient, *sorted(options.items()))
        if key not in self.made:
            self.made[key] = self.fit((self.lenient if lenient else self.kind)(**options))
        return self.made[key]

    def fit(self, solver):
        box = None
        if self.bounded:
            box = tuple(np.full(self.toy.problem.n_weights, bound) for bound in BOX)
        regularizer = self.toy.regularizer(LAM, box)
        try:
            solution = solver.solve(
                self.toy.problem, regularizer, tol=1e-6, max_iter=12, random_state=0
            )
        except ValueError as error:
            return str(error)
        columns = solution.history | {"w": solution.w}
        # rho is what the option says
        return {name: columns[name] for name in columns.keys() - {"time", "rho"}}

    def standing(self, options):
        """What an option is without being set."""
        return self.kind(**options).resolved(self.toy.problem, self.bounded).get_params()


def bits(columns):
    """The bytes of columns by name."""
    return {name: column.tobytes() for name, column in columns.items()}


def assert_close(found, expected, options):
    """The same but for rounding: what stores planes without use adds up in another order."""
    assert found.keys() == expected.keys()
    for name, column in expected.items():
        np.testing.assert_allclose(found[name], column, 1e-9, 1e-11, err_msg=f"{name}: {options}")


@pytest.mark.parametrize(("kind", "bounded", "problem"), CASES)
def test_an_option_is_refused_just_where_it_makes_no_difference(kind, bounded, problem):
    fits, values = Fits(kind, bounded, toy_of(problem)), VALUES[kind]
    singles = [{name: value} for name in values for value in values[name]]
    refused = set()
    for option, other in ((a, b) for a in singles for b in [{}, *singles] if a.keys() != b.keys()):
        ((name, value),) = option.items()
        both, base = option | other, fits(other)
        if isinstance(base, str) or fits.standing(other)[name] == value:
            continue
        found = fits(both)
        if isinstance(found, str):
            # of the two it may be the other one that is refused
            idle = found.split("=")[0]
            assert found.startswith(f"{idle}={both[idle]!r} has no meaning with ")
            rest = {key: both[key] for key in both if key != idle}
            if "clock" not in both:
                assert_close(fits(both, lenient=True), fits(rest, lenient=True), both)
            refused.add(idle)
        elif not AMOUNTS & both.keys():
            assert bits(found) != bits(base), (option, other)
    assert refused == REFUSED.get((kind, problem), set())


@pytest.mark.parametrize(
    ("solver", "bounded", "message"),
    [
        (
            BCFW(cache_size=3.0, steps="fw"),
            False,
            "cache_size=3.0 has no meaning with steps='fw' and cache=False (by 'auto') and "
            "block_steps=1 (by 'auto') and stored_passes=0 (by 'auto'); leave it at 1000.0",
        ),
        (
            MultiPlane(clock=True, max_stored_passes=1),
            False,
            "clock=True has no meaning with max_st",
        ),
    ],
    ids=str,
)
def test_messages(solver, bounded, message):
    """They name the option, what makes it idle, and where to leave it; before any pass."""
    toy = chain_toy(3)
    box = tuple(np.full(toy.problem.n_weights, bound) for bound in BOX) if bounded else None
    problem = UnreliableProblem(toy.problem, 0)
    for call in (solver.resolved, solver.solve, solver.start):
        arguments = (bounded,) if call == solver.resolved else (toy.regularizer(LAM, box),)
        if call == solver.start:
            arguments += (np.random.RandomState(0),)
        with pytest.raises(ValueError) as caught:
            call(problem, *arguments)
        assert message in str(caught.value)


def test_what_depends_on_the_problem_is_left_to_it():
    """A check without a problem refuses what no problem has a use for, and only that."""
    BCFW(cache_size=2.0).check()
    BCFW(steps="fw", cache=True, cache_size=2.0).check()
    with pytest.raises(ValueError, match="has no meaning"):
        BCFW(steps="fw", cache_size=2.0).check()


def test_what_is_at_its_default_or_holds_anyway_is_never_refused():
    problem = chain_toy(3).problem
    defaults = BCFW().get_params()
    assert BCFW(steps="fw", **{k: v for k, v in defaults.items() if k != "steps"}).resolved(problem)
    assert BCFW(block_steps=1).resolved(problem, bounded=True)
    assert MultiPlane(clock=False, max_stored_passes=0).resolved(problem)
    for kind in VALUES:
        for rule in kind.idle:
            assert rule.option in kind().get_params()


def rows():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    return rng.normal(size=(30, 3)) + 2 * np.eye(3)[y], y


def test_estimators_refuse_and_stay_as_they_were():
    X, y = rows()
    model = StructSVMClassifier(random_state=0).fit(X, y)
    before = dict(vars(model))
    for params in (
        {"solver": BCFW(steps="fw", cache_size=3.0)},
        {"solver": MultiPlane(clock=True, max_stored_passes=1)},
    ):
        with pytest.raises(ValueError, match="has no meaning with"):
            model.set_params(**params).fit(X, y)
        model.set_params(solver="auto", bounds=None)
        assert dict(vars(model)) == before
    with pytest.raises(ValueError, match="method='afw' has no meaning with sets of labels"):
        MultilabelPairwise(solver=GDMM(method="afw"), inference="lp").fit(
            X, np.eye(3, dtype=int)[y]
        )


def test_shorthand_and_searches():
    """Options by the estimator's own names, and grids whose points all have a meaning."""
    X, y = rows()
    for params in (
        {"steps": "fw", "sampling": "gap", "cache": True},
        {"steps": "away", "cache": False},
        {"sampling": "uniform"},
        {"solver": "mpbcfw", "steps": "pairwise", "sampling": "gap"},
    ):
        StructSVMClassifier(random_state=0, **params).fit(X, y)
    grid = {"solver__steps": ["pairwise"], "solver__cache_size": [1.0, 10.0, 100.0]}
    search = GridSearchCV(StructSVMClassifier(solver=BCFW(), random_state=0), grid, cv=2)
    assert len(search.fit(X, y).cv_results_["params"]) == 3
    copy = clone(search.best_estimator_)
    assert copy.get_params()["solver__steps"] == "pairwise"
    grid["solver__steps"] = ["fw"]
    with pytest.raises(ValueError, match="cache_size=1.0 has no meaning"):
        clone(search).set_params(param_grid=grid, error_score="raise").fit(X, y)


def calls(path):
    """Solvers that a script or a page names with options that can be read there."""
    names = {kind.__name__: kind for kind in VALUES}
    if path.suffix == ".py":
        trees = [ast.parse(path.read_text())]
    else:
        trees = []
        for found in re.findall(rf"(?:{'|'.join(names)})\([^()]*\)", path.read_text()):
            with contextlib.suppress(SyntaxError):  # it says "...", or is a signature
                trees.append(ast.parse(" ".join(found.split())))
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            with contextlib.suppress(ValueError):  # options that only a run knows
                options = {k.arg: ast.literal_eval(k.value) for k in node.keywords}
                if None not in options and Ellipsis not in options.values():
                    yield names[node.func.id](**options)


def test_examples_and_guide_set_no_idle_option():
    root = Path(__file__).resolve().parents[3]
    if not (root / "examples").exists():
        pytest.skip("not a checkout")
    found = []
    for path in [*(root / "examples").rglob("*.py"), *(root / "doc").rglob("*.rst")]:
        if not {"auto_examples", "generated", "_build"} & set(path.parts):
            found.extend(calls(path))
    for solver in found:
        solver.check()
    assert len(found) > 60
