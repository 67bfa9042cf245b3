"""``solver_`` is the solver that ran: with it a fit gives the same bits."""

import itertools
import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import FITS, HINGES, SOLVERS, suits
from helpers.objectives import bracket
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning

import sskit
from sskit.datasets import make_chains
from sskit.estimators.label_sets import LabelSetClassifier
from sskit.solvers import ALIASES, BCFW, GDMM, CuttingPlane, MultiPlane, SoftBCFW
from sskit.solvers import SOLVERS as NAMES

# Two fits of a few passes differ as soon as their solvers do.
PASSES = {"max_iter": 4, "tol": 1e-4, "random_state": 0}
REFUSED = "bounds|a prior|sums? over nodes and edges|one table of weights|one cost for each token"
SHORTHAND = {"steps": "auto", "sampling": "auto", "cache": "auto"}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def bits(model):
    """All numbers of a fit but its times, as bytes by name."""
    found = {name: value for name, value in vars(model).items() if name.endswith("_")}
    del found["solver_"]
    if history := found.pop("history_", None):
        found |= {f"history_[{name!r}]": history[name] for name in history.keys() - {"time"}}
    return {name: pickle.dumps(value) for name, value in found.items()}


def differences(one, other):
    """Names of what differs between two fits, their solvers included."""
    first, second = bits(one), bits(other)
    found = sorted(k for k in first.keys() | second.keys() if first.get(k) != second.get(k))
    used, again = one.solver_, other.solver_
    same = type(used) is type(again) and used.get_params() == again.get_params()
    return found if same else [*found, "solver_"]


def refit(model, X, y):
    """The same fit with the solver that was used."""
    return clone(model).set_params(solver=model.solver_, **SHORTHAND).fit(X, y)


@pytest.mark.parametrize("turn", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
@pytest.mark.parametrize(("number", "fit"), list(enumerate(HINGES)), ids=str)
def test_a_fit_with_the_used_solver_has_the_same_bits(number, fit, turn):
    """Each with every fourth of the solvers at a time."""
    X, y = FITS[fit].data()
    changed, certified = {}, []
    for name, solver in itertools.islice(SOLVERS.items(), (number + turn) % 4, None, 4):
        model = clone(FITS[fit].estimator).set_params(solver=solver, **PASSES)
        if not suits(fit, name):
            with pytest.raises(ValueError, match=REFUSED):
                model.fit(X, y)
            continue
        model.fit(X, y)
        assert type(model.solver_) is type(solver)
        certified += [model] if model.certified_ else []
        if found := differences(refit(model, X, y), model):
            changed[name] = found
    assert changed == {}
    # what one solver proves holds for all others
    lowest = min((model.primal_objective_ for model in certified), default=np.inf)
    assert all(model.dual_objective_ <= lowest * (1 + 1e-9) for model in certified)


def test_strings_and_shorthand():
    X, y = FITS["chains"].data()
    for params in (
        {"solver": "bcfw", "steps": "fw", "sampling": "gap"},
        {"steps": "away", "cache": True},
        {"solver": "mpbcfw", "steps": "pairwise", "sampling": "uniform"},
        {"solver": "ssg", "sampling": "uniform"},
        {"solver": "soft_bcfw", "steps": "away"},
        *(
            {"solver": name}
            for name in (*NAMES, *ALIASES)
            if not NAMES.get(name, BCFW).takes_likelihood
        ),
    ):
        model = sskit.SequenceTagger(**params, **PASSES).fit(X, y)
        name = params.get("solver", "auto")
        kind = NAMES[ALIASES.get(name, name)]
        assert type(model.solver_) is kind or name == "auto"
        assert differences(refit(model, X, y), model) == [], params
        spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
        assert name in (spelled, "auto", *ALIASES)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_batches_of_a_kernel_space(n_jobs):
    """They are the same whether they were asked for or not."""
    estimator, (X, y) = FITS["rows, few kernel rows"].estimator, FITS["rows"].data()
    for solver in (BCFW(), BCFW(steps="fw"), MultiPlane()):
        model = clone(estimator).set_params(n_jobs=n_jobs, solver=solver, **PASSES).fit(X, y)
        asked = clone(solver).set_params(batch_size=model.solver_.batch_size)
        assert asked.batch_size > 1
        assert differences(clone(model).set_params(solver=asked).fit(X, y), model) == []
    all_rows = model.set_params(kernel_cache=500.0, solver=BCFW()).fit(X, y)
    assert all_rows.solver_.batch_size == 1


def test_it_is_an_object_of_its_own():
    X, y = FITS["rows"].data()
    solver = BCFW()
    model = sskit.StructSVMClassifier(solver=solver, **PASSES).fit(X, y)
    assert model.solver_ is not solver and solver.get_params() == BCFW().get_params()
    # what "auto" stands for is what it says
    chains = sskit.SequenceTagger(**PASSES).fit(*FITS["chains"].data()).solver_
    assert model.solver_.steps == "projection" and chains.steps == "pairwise"
    assert chains.block_steps == 5


@pytest.mark.parametrize("fit", HINGES)
def test_auto_is_cutting_planes_for_few_pairs(fit):
    X, y = FITS[fit].data()
    kernel = FITS[fit].estimator.get_params().get("kernel", "linear") != "linear"
    options = {"tol": 0.5, "random_state": 0}
    one_set = fit.startswith("ranking")  # all rows are one block
    never = kernel or isinstance(FITS[fit].estimator, LabelSetClassifier)
    for n, few in ((5, True), (6, one_set)):
        model = clone(FITS[fit].estimator).set_params(**options).fit(X[:n], y[:n])
        # on the local polytope
        many = GDMM if fit in ("sets", "sets, scaled", "sets, tree") else BCFW
        assert type(model.solver_) is (CuttingPlane if few and not never else many)
    for option in ({"steps": "fw"}, {"cache": False}, {"warm_start": True}, {"solver": "bcfw"}):
        model = clone(FITS[fit].estimator).set_params(**options, **option, max_iter=2)
        assert type(model.fit(X[:3], y[:3]).solver_) is BCFW


def test_rows_of_many_labels_take_no_cuts():
    X = np.random.default_rng(0).normal(size=(30, 8))
    Y = (X @ np.ones((8, 120)) + np.random.default_rng(1).normal(size=(30, 120)) > 0).astype(int)
    model = sskit.MultilabelPairwise(edges=None, random_state=0, tol=0.1).fit(X, Y)
    assert type(model.solver_) is BCFW and model.solver_.steps == "projection"


def test_with_very_many_weights_cuts_are_too_dear():
    rng = np.random.default_rng(0)
    X = [sp.random(6, p, density=0.01, format="csr", random_state=rng) for p in (9_000,) * 3]
    y = [rng.permutation(6) % 3 for _ in X]
    model = sskit.SequenceTagger(random_state=0, tol=0.1)
    assert type(model.fit(X, y).solver_) is BCFW
    assert type(model.fit([x[:, :5000] for x in X], y).solver_) is CuttingPlane


# ---- training factor by factor ------------------------------------------------------------------


CHAINS = make_chains(30, n_states=4, random_state=0)
SETS = make_multilabel_classification(80, n_classes=6, random_state=0)


def test_histories_have_what_dual_decomposition_measures():
    for solver, column in (("gdmm", "n_scores"), ("soft_bcfw", "soft_gap")):
        tagger = sskit.SequenceTagger(lam=1.0, solver=solver, tol=0.05, random_state=0).fit(*CHAINS)
        assert tagger.certified_
        assert {"lagrangian", "infeasibility", column} < set(tagger.history_)
        with pytest.raises(ValueError, match=f"^rescaling='slack' cannot be .*'{solver}'"):
            tagger.set_params(rescaling="slack").fit(*CHAINS)


def test_without_exact_passes():
    """That such a fit converges, uncertified and without a call of the oracle, is in test_gdmm."""
    for solver, told in (
        (GDMM(gap_every=None), "with no gap, and an infeasibility of 0"),
        (SoftBCFW(gap_every=None), "with no gap, and an infeasibility of 0"),
        ("gdmm", "with a relative duality gap of"),
    ):
        tagger = sskit.SequenceTagger(solver=solver, max_iter=2, random_state=0)
        with pytest.warns(ConvergenceWarning, match=f"after 2 passes {told}"):
            tagger.fit(*CHAINS)
        assert np.isnan(tagger.dual_gap_) == (solver != "gdmm")


def test_certified_like_the_others():
    """P(0) is the mean number of tokens, or of labels; those without a pair are isolated nodes."""
    for model, (X, y), unit in (
        (sskit.SequenceTagger(lam=1.0), CHAINS, np.mean([*map(len, CHAINS[1])])),
        (sskit.MultilabelPairwise(edges=None), SETS, 6),
    ):
        model.set_params(tol=1e-3, max_iter=5000, random_state=0, solver="gdmm").fit(X, y)
        assert model.certified_ and isinstance(model.solver_, GDMM)
        assert model.solver_.method == "bgcd" and model.dual_gap_ <= 1e-3 * unit
        assert {"lagrangian", "infeasibility", "n_scores"} < set(model.history_)


def test_soft_constraints():
    tagger = sskit.SequenceTagger(lam=1.0, solver="soft_bcfw", tol=0.05, random_state=0)
    tagger.fit(*CHAINS)
    exact = sskit.SequenceTagger(lam=1.0, tol=1e-3, random_state=0).fit(*CHAINS)
    assert isinstance(tagger.solver_, SoftBCFW)
    bracket(tagger, exact)
    assert {"lagrangian", "infeasibility"} < set(tagger.history_)
    assert tagger.history_["soft_gap"][-1] <= 0.05 * np.mean([*map(len, CHAINS[1])])
    assert tagger.score(*CHAINS) >= exact.score(*CHAINS) - 0.1
    with pytest.raises(ValueError, match="^rescaling='slack' cannot be .*'soft_bcfw'"):
        tagger.set_params(rescaling="slack").fit(*CHAINS)
