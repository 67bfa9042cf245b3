"""Laws of all estimators: each on every fit of the table in helpers.fits, or on one of each kind.

What else holds for all of them: refits and warm starts, priors, bounds, used solvers and
combinations in `base`, serving and threads beside this file, all labellings in test_enumeration.
"""

import copy
import inspect
import itertools
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.fits import FITS, KINDS, of_features
from helpers.refusals import refused
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.utils._param_validation import InvalidParameterError

import sskit
from sskit.solvers import BCFW

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PRECISE = {"tol": 5e-3, "max_iter": 3000}
BY_ITSELF = ("parts", "matchings")  # no rows of features


def make(name, **given):
    return clone(FITS[name].estimator).set_params(random_state=0, **given)


# Tools around an estimator, here around a tagger.
AROUND = {
    sskit.RegularizationPath: {"eps": 0.3, "lam_min": 0.1},
    sskit.EarlyStopping: {"random_state": 0},
    sskit.CalibratedTagger: {"cv": 2},
}


def case(kind, **given):
    """A fit of the table, or one of a kind, or a tool around a tagger, and its data."""
    name = "chains" if kind in AROUND else KINDS.get(kind, kind)
    model = make(name, **given)
    return (kind(model, **AROUND[kind]) if kind in AROUND else model), *FITS[name].data()


def of_each(*kinds):
    return pytest.mark.parametrize("kind", kinds, ids=lambda kind: getattr(kind, "__name__", kind))


def take(data, order):
    """Samples in this order."""
    return [data[i] for i in order] if isinstance(data, list) else data[order]


def bracket(*models):
    """Certificates of one problem: no dual objective lies above a primal one."""
    assert len({model.certified_ for model in models}) == 1
    assert len({round(np.log(model.lam_), 9) for model in models}) == 1
    primal = min(model.primal_objective_ for model in models)
    if models[0].certified_:
        assert max(model.dual_objective_ for model in models) <= primal * (1 + 1e-9) + 1e-12
    else:  # an oracle that is not exact has a heuristic optimum
        assert max(model.primal_objective_ for model in models) <= 1.1 * primal


def same(one, other):
    """Equal answers, item by item."""
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


BALANCED = {"class_weight": "balanced"}
OF_CLASSES = [
    ("rows, scaled", BALANCED),
    ("rows, scaled", {"class_weight": {"a": 2.0}, "surrogate": "crammer_singer"}),
    ("rows, costs", BALANCED | {"standardize": True}),
    ("rows, kernel", BALANCED),
    ("rows, likelihood", BALANCED),
    ("chains, likelihood", {"solver": "exponentiated_gradient"}),
    ("chains", BALANCED),
    ("chains", {"class_weight": {0: 2.0}, "loss": "hamming"}),
    ("trees", BALANCED),
    ("segments", BALANCED),
    ("any graphs", {"loss": "balanced"}),
]


@pytest.mark.parametrize(
    ("name", "given"),
    [*((name, {}) for name in FITS if not name.startswith("ranking")), *OF_CLASSES],
)
def test_weights_are_copies(name, given):
    """With defaults that follow from the data: lam, scales of columns, balanced classes.

    Rankings have weights of groups, which are tested with them.
    """
    X, y = FITS[name].data()
    if given and name.startswith("rows"):
        X = sp.csr_array(X * (np.abs(X) > 0.7))
    weight = np.random.default_rng(0).permutation(np.arange(len(y)) % 3)
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = make(name, **PRECISE, **given).fit(X, y, sample_weight=weight)
    copied = make(name, **PRECISE, **given).fit(take(X, copies), take(y, copies))
    bracket(weighted, copied)
    if hasattr(copied, "feature_scale_"):
        np.testing.assert_allclose(weighted.feature_scale_, copied.feature_scale_)
    score = weighted.score(X, y, sample_weight=weight)
    assert score == pytest.approx(weighted.score(take(X, copies), take(y, copies)))


def offered(model, *methods):
    """Those of the methods that a model has, with its parameters."""
    return [method for method in methods if hasattr(model, method)]


@pytest.mark.parametrize("name", FITS)
def test_the_order_of_samples_and_threads_change_no_optimum(name):
    X, y = FITS[name].data()
    order = np.random.default_rng(0).permutation(len(y))
    one = make(name, **PRECISE).fit(X, y)
    other = make(name, **PRECISE, n_jobs=2).fit(X, y)
    bracket(one, other, make(name, **PRECISE).fit(take(X, order), take(y, order)))
    again = clone(other).fit(X, y)
    np.testing.assert_array_equal(
        *(getattr(model, "coef_", model.lam_) for model in (again, other))
    )
    for method in offered(other, "predict", "decision_function"):
        answers = getattr(other, method)(X)
        same(getattr(other.set_params(n_jobs=None), method)(X), answers)
        same(getattr(other.set_params(n_jobs=50), method)(X), answers)


@pytest.mark.parametrize(
    "name", [name for name in FITS if name not in BY_ITSELF and "scaled" not in name]
)
def test_sparse_features_are_dense_ones(name):
    """Scaled columns are centred if they are dense; that is tested with them."""
    X, y = FITS[name].data()
    given = {"standardize": False} if "standardize" in make(name).get_params() else {}
    dense, thin = (
        make(name, **PRECISE, **given).fit(rows, y) for rows in (X, of_features(X, sp.csr_array))
    )
    bracket(dense, thin)
    for method in {"predict", "decision_function"} & set(dir(dense)):
        found = getattr(dense, method)(of_features(X, sp.csr_array))
        for a, b in zip(getattr(dense, method)(X), found, strict=True):
            if method == "predict" and not isinstance(dense, sskit.RankingSVM):
                np.testing.assert_array_equal(a, b)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [KINDS[kind] for kind in KINDS if KINDS[kind] not in BY_ITSELF])
def test_named_columns_are_silent(name):
    """Warnings are errors: none of a public method, nor of what calls it, has lost the names."""
    X, y = FITS[name].data()
    named = of_features(X, framed)
    plain, model = make(name, max_iter=5).fit(X, y), make(name, max_iter=5).fit(named, y)
    if not name.endswith("graphs"):  # which keep no names
        assert model.feature_names_in_[0] == "x0" and not hasattr(plain, "feature_names_in_")
        with pytest.raises(ValueError, match="the columns of X are 'x|eature names"):
            model.predict(of_features(X, lambda rows: framed(rows).iloc[:, ::-1]))
    assert model.score(named, y) == plain.score(X, y)
    for method in {"predict", "decision_function", "node_scores", "predict_states"} & {*dir(model)}:
        same(getattr(model, method)(named), getattr(plain, method)(X))
    for wrapper in (
        sskit.EarlyStopping(clone(model), random_state=0),
        sskit.RegularizationPath(clone(model), cv=2),
    ):
        assert wrapper.fit(named, y).score(named, y) <= 1.0
        assert len(wrapper.predict(named)) == len(y)
    folds = KFold(2, shuffle=True, random_state=0)
    assert np.isfinite(cross_val_score(clone(model), named, y, cv=folds)).all()


def framed(rows):
    return pd.DataFrame(rows).rename(columns="x{}".format)


def frozen(data):
    """Make arrays read-only, at any depth."""
    if isinstance(data, np.ndarray):
        data.flags.writeable = False
    if isinstance(data, list | tuple) or getattr(data, "dtype", None) is np.dtype(object):
        for part in data:
            frozen(part)
    return data


@of_each(*FITS, *AROUND)
def test_nothing_that_is_given_is_changed(kind):
    model, X, y = case(kind, max_iter=5)
    X, y, weight = frozen((X, y, np.ones(len(y))))
    before = joblib.hash((X, y, weight))
    params = joblib.hash(model.get_params())
    model.fit(X, y, sample_weight=weight)
    fitted = joblib.hash(vars(model))
    model.score(X, y)
    for method in offered(model, "predict", "decision_function", "node_scores"):
        getattr(model, method)(X)
    assert joblib.hash((X, y, weight)) == before
    assert joblib.hash(model.get_params()) == params and joblib.hash(vars(model)) == fitted
    assert not [key for key in vars(clone(model)) if key.endswith("_")]
    same(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


# ---- what is wrong, by one example of each check; all examples are in tests/inputs ---------------


def changed(X, i, change):
    """Data with other features of one item."""
    if isinstance(X, np.ndarray):
        X = X.copy()
        X[i] = change(X[i])
        return X
    item = X[i]
    item = (change(item[0]), *item[1:]) if isinstance(item, tuple) else change(item)
    return [*X[:i], item, *X[i + 1 :]]


@of_each(*KINDS, *AROUND)
def test_what_is_wrong_is_named_and_changes_nothing(kind):
    model, X, y = case(kind, tol=0.5)
    new = clone(model)
    model.fit(X, y)
    told = [
        ({"X": changed(X, 2, lambda x: x * np.nan)}, r"NaN|\[2.* is nan|joint_feature .* sample 2"),
        (
            {"X": changed(X, 2, lambda x: np.full(x.shape, 1e200))},
            r"too large|\[2\].* is 1e\+200|sample 2",
        ),
        ({"y": y[:-1]}, r"\d+ samples but y has \d+|inconsistent numbers of samples"),
        ({"sample_weight": np.where(np.arange(len(y)) == 2, -1.0, 1.0)}, r"sample_weight\[2\] is"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"sample_weight": np.zeros(len(y))}, "sample_weight is zero"),
    ]
    for given, message in told:
        for each in (new, model):
            before = joblib.hash(vars(each))
            with pytest.raises((ValueError, RuntimeError), match=message) as caught:
                each.fit(**{"X": X, "y": y} | given)
            assert type(caught.value) in (ValueError, RuntimeError)
            assert joblib.hash(vars(each)) == before
    for method in offered(model, "predict", "decision_function", "predict_topk"):
        further = (2,) if method == "predict_topk" else ()
        with pytest.raises(NotFittedError):
            getattr(new, method)(X, *further)
        with pytest.raises((ValueError, RuntimeError), match=r"NaN|\[2.* is nan|X\[2\]"):
            getattr(model, method)(told[0][0]["X"], *further)
    if hasattr(model, "predict_topk"):
        for k in (0, 2.0, "2", True):
            with pytest.raises(ValueError, match="^k must be a positive integer, got"):
                model.predict_topk(X, k)
    with pytest.raises(NotFittedError):
        new.score(X, y)
    if KINDS.get(kind) not in BY_ITSELF:
        double = of_features(X, lambda x: np.hstack([x, x]))
        with pytest.raises(ValueError, match=r"\d+ features, but \w+ is expecting \d+ features"):
            model.predict(double)


NAN, INF = np.nan, np.inf
# Of values that scikit-learn's parameter constraints refuse, one or more of each parameter.
INVALID = {
    "lam": (INF, -1.0), "tol": (-0.1, "no"), "max_iter": (10.0,), "solver": ("none", BCFW),
    "steps": ("big",), "sampling": (1,), "cache": ("yes",), "rescaling": ("both", 3),
    "loss": ("square",), "surrogate": ("square",), "bounds": (1.0,), "prior": ("yes", 3.0),
    "warm_start": ("no",), "n_jobs": (0, 1.5), "random_state": (-1,), "verbose": ("loud",),
    "kernel": ("cubic",), "gamma": (-1.0,), "degree": (2.5,), "coef0": (NAN,),
    "kernel_cache": (0,), "class_weight": ("even",), "label_weight": ("even",),
    "fit_intercept": ("yes",), "standardize": ("yes",), "order": (0, 3, "2", None, 1.5),
    "beam_size": (0, -1, 1.5, "all"), "allowed_transitions": ("iob", "conll"),
    "on_violation": ("warn",), "n_states_per_label": (0, "two"), "n_components": (0,),
    "n_init": (0,), "max_length": (0,), "scheme": ("bioes2",), "first_last": ("no",),
    "lengths": ("no",), "segment_features": (3,), "pairwise_form": ("table",),
    "inference": ("cut",), "node_weights": ("sizes",), "allowed_pairs": ("all",),
    "edges": ("star",), "hierarchy": ("tree",), "parents": ("chain",), "n_types": (0,),
    "means": ("all",), "latent_types": ("yes",), "min_square": (0.0,), "cutoff": (-1.0,),
    "radius": (0,), "torso": ("all",), "part_names": (3,), "scores": ("probabilities",),
    "model": ("chain", 3), "eps": (0.0, -1.0, 1.0), "kappa": (1.0,), "lam_min": (-1.0,),
    "max_breakpoints": (0,), "cv": (1, "many"), "scoring": ("nice",), "refit": ("most",),
    "validation_fraction": (0, 1.0), "n_iter_no_change": (0, 1.5), "method": ("odds",),
    "risk": ("words",),
}  # fmt: skip


@of_each(*KINDS, *AROUND)
def test_every_parameter_refuses_what_is_invalid(kind):
    fitted, X, y = case(kind, tol=0.5)
    names = inspect.signature(kind.__init__).parameters.keys()
    # any label may be ignored, or be that of what is outside
    assert names - INVALID.keys() <= {"self", "ignore_label", "outside", "estimator"}
    fitted.fit(X, y)
    for name in names & INVALID.keys():
        told = f"^The '{name}' parameter of {kind.__name__} must be .*Got "
        for value, model in itertools.product(INVALID[name], (clone(fitted), copy.copy(fitted))):
            model.set_params(**{name: value})
            with refused(model, InvalidParameterError, told + re.escape(f"{value!r} instead")):
                model.fit(X, y)


@of_each(*(kind for kind in KINDS if kind is not sskit.StructuredSVM))
def test_scores_that_overflow_are_named(kind):
    """Those of a structure are the user's own."""
    model, X, y = case(kind, tol=0.5)
    model.fit(X, y)
    model.coef_ = 1e3 * model.coef_ + 1e3
    large = changed(X, 2, lambda x: 1e306 * np.sign(x, dtype=float))
    for method in {"predict", "decision_function"} & set(dir(model)):
        with pytest.raises(ValueError, match=r"too large|X\[2\].* is -?1e\+306"):
            getattr(model, method)(large)


# ---- tools -----------------------------------------------------------------------------------


@of_each(*KINDS, "rows, likelihood", "chains, likelihood", *AROUND)
def test_tools_take_it(kind):
    (model, X, y), folds = case(kind, tol=0.1), KFold(2, shuffle=True, random_state=0)
    grid = {"estimator__lam" if kind in AROUND else "lam": [0.1, 1.0]}
    search = GridSearchCV(model, grid, cv=folds, error_score="raise").fit(X, y)
    assert np.isfinite(search.best_score_) and len(search.predict(X)) == len(y)
    found = cross_val_predict(model, X, y, cv=folds)
    for train, test in folds.split(X):
        fitted = clone(model).fit(take(X, train), take(y, train))
        same(take(found, test), fitted.predict(take(X, test)))
    if kind in AROUND:
        return
    stopped = sskit.EarlyStopping(model, validation_fraction=0.3, random_state=0).fit(X, y)
    same(stopped.predict(X), stopped.estimator_.predict(X))
    path = sskit.RegularizationPath(model, eps=0.3, lam_min=0.1).fit(X, y)
    assert path.certified_ == clone(model).fit(X, y).certified_
    for lam in (0.5, max(path.lam_end_, 0.1)):
        exact = clone(model).set_params(lam=lam, **PRECISE).fit(X, y)
        if path.certified_:
            assert path.dual_objective_at(lam) <= exact.primal_objective_ + 1e-9
            assert exact.dual_objective_ <= path.primal_objective_at(lam) + 1e-9
    same(path.estimator_at(path.lam_).predict(X), path.predict(X))


@of_each(*(kind for kind in [*KINDS, *AROUND] if kind is not sskit.RankingSVM))
def test_weights_are_routed(kind):
    (model, X, y), folds = case(kind, tol=0.1), KFold(3)
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    with config_context(enable_metadata_routing=True):
        routed = clone(model).set_fit_request(sample_weight=True)
        routed.set_score_request(sample_weight=True)
        scores = cross_val_score(routed, X, y, cv=folds, params={"sample_weight": weight})
        search = GridSearchCV(routed, {}, cv=folds).fit(X, y, sample_weight=weight)
    for fold, (train, test) in enumerate(folds.split(X)):
        fitted = clone(model).fit(take(X, train), take(y, train), sample_weight=weight[train])
        score = fitted.score(take(X, test), take(y, test), sample_weight=weight[test])
        assert scores[fold] == search.cv_results_[f"split{fold}_test_score"][0] == score
    same(search.predict(X), clone(model).fit(X, y, sample_weight=weight).predict(X))


@of_each(sskit.EarlyStopping, sskit.RegularizationPath)
def test_what_stands_around_an_estimator_says_what_it_says(kind):
    outer, X, y = case(kind, tol=0.1)
    outer.fit(X, y)
    inner = outer.estimator_ if kind is sskit.EarlyStopping else outer.estimator_at(outer.lam_)
    known = [np.where(np.arange(len(labels)) == 1, labels[1], None) for labels in y]
    same(outer.predict(X, known), inner.predict(X, known))
    same(*(m.predict_topk(X, 2, return_scores=True)[1] for m in (outer, inner)))
    for found, labels in zip(outer.predict_topk(X, 2, known=known), y, strict=True):
        assert (found[:, 1] == labels[1]).all()
    scores = outer.decision_function(X, known=known)
    assert all(np.isinf(score[1]).sum() == 2 for score in scores)
    weight = np.linspace(0.0, 1.0, len(X))
    assert outer.score(X, y, weight) == inner.score(X, y, weight)
    X, y = FITS["rows"].data()
    rows = kind(make("rows", tol=0.1), **AROUND[kind]).fit(X, y)
    assert not hasattr(rows, "predict_topk")
    with pytest.raises(TypeError, match="unexpected keyword argument 'known'"):
        rows.predict(X, known=[None] * len(X))


# For training alone: they may have any value until the next fit.
TRAINING = {
    "lam": 3.0, "rescaling": "slack", "solver": "frank_wolfe", "steps": "fw", "sampling": "gap",
    "cache": True, "loss": "other", "bounds": (-1e-9, 1e-9), "tol": 0.5, "max_iter": 1,
    "warm_start": True, "random_state": 7, "verbose": 3, "class_weight": "balanced",
    "label_weight": [9.0] * 9, "node_weights": "areas", "cutoff": 0.1, "min_square": 9.0,
    "on_violation": "ignore", "kernel_cache": 1e-3, "prior": [1.0], "n_components": 2,
    "n_states_per_label": 2, "n_init": 3, "latent_types": True, "max_length": 1,
    "first_last": False, "lengths": False, "beta": 2.0, "balance": 0.7, "k": 3,
    "segment_features": max, "standardize": False, "surrogate": "crammer_singer",
}  # fmt: skip
# What predictions or scores take by themselves; tested where they are at home.
AT_ONCE = {
    "n_jobs", "beam_size", "allowed_transitions", "allowed_pairs", "inference", "radius", "torso",
    "ignore_label", "scheme", "outside",
}  # fmt: skip
# What makes a model what it is.
MODEL = {
    sskit.StructSVMClassifier: {"kernel": "rbf", "fit_intercept": False},
    sskit.StructuredSVM: {"model": "other"},
    sskit.SequenceTagger: {"order": 2, "kernel": "rbf"},
    sskit.GraphTagger: {"pairwise_form": "potts"},
    sskit.SegmentationModel: {"pairwise_form": "full", "inference": "elimination"},
    sskit.MultilabelPairwise: {"edges": None, "inference": "exhaustive", "fit_intercept": False},
    sskit.HierarchicalMultilabel: {"hierarchy": [-1, 0, 0], "fit_intercept": False},
    sskit.PartsModel: {
        "parents": [-1],
        "n_types": 9,
        "means": 0.0,
        "part_names": ["a"],
        "scores": "odds",
    },  # fmt: skip
}
OF_KERNELS = {"gamma": 9.0, "degree": 5, "coef0": 2.0}


@of_each(*KINDS)
def test_every_parameter_is_of_one_kind(kind):
    """Those of training are for the next fit, as are those that make a model what it is."""
    names = set(inspect.signature(kind.__init__).parameters) - {"self"}
    (model, X, y), own = case(kind, max_iter=5), MODEL.get(kind, {})
    assert names <= {*TRAINING, *AT_ONCE, *own, *OF_KERNELS} and set(own) <= names
    model.fit(X, y)
    methods = [name for name in ("predict", "decision_function") if hasattr(model, name)]
    before = {name: getattr(model, name)(X) for name in methods}
    training = {name: value for name, value in TRAINING.items() if name in names}
    for name, value in (training | own).items():
        changed = copy.deepcopy(model).set_params(**{name: value})
        for method in methods if name in own else methods[:1]:
            same(getattr(changed, method)(X), before[method])


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
@of_each(sskit.StructSVMClassifier, sskit.SequenceTagger)
def test_parameters_of_kernels(kind, kernel):
    model, X, y = case(kind, max_iter=5, kernel=kernel, gamma=0.5)
    before = model.fit(X, y).predict(X)
    for name, value in OF_KERNELS.items():
        same(copy.deepcopy(model).set_params(**{name: value}).predict(X), before)
    same(model.set_params(kernel="linear").predict(X), before)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_weights_of_another_size_than_one_are_told_of_where_lam_follows_from_them(factor):
    X, y = np.arange(60.0).reshape(30, 2), np.arange(30) // 10
    weight = np.full(30, factor)
    with pytest.warns(UserWarning, match=r"add up to .*; divide them by their mean, or set lam"):
        sskit.StructSVMClassifier().fit(X, y, weight)
    one, other = (sskit.StructSVMClassifier(lam=0.1).fit(X, y, w) for w in (weight, None))
    assert one.primal_objective_ == pytest.approx(other.primal_objective_, rel=0.02)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.0}])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("surrogate", ["auto", "log"])
def test_class_weights_are_factors_of_sample_weights(class_weight, form, weighted, surrogate):
    rng = np.random.default_rng(4)
    X, y, weight = rng.normal(size=(60, 3)), np.arange(60) % 7 % 3, rng.uniform(0, 2, 60)
    weight = weight if weighted else np.ones(60)
    X = form(X * (np.abs(X) > 1) * [1, 9, 1])
    counts = np.bincount(y, weight)
    factors = counts.sum() / (3 * counts) if class_weight == "balanced" else np.array([3, 1, 0])
    options = {"tol": 1e-5, "max_iter": 9000, "random_state": 0, "surrogate": surrogate}
    given = weight if weighted else None
    one = sskit.StructSVMClassifier(class_weight=class_weight, **options).fit(X, y, given)
    other = sskit.StructSVMClassifier(**options).fit(X, y, weight * factors[y])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
    assert one.lam_ == pytest.approx(other.lam_)
    assert one.primal_objective_ == pytest.approx(other.primal_objective_, rel=1e-4)
    np.testing.assert_allclose(one.feature_scale_, other.feature_scale_)
