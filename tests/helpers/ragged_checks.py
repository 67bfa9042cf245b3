"""What scikit-learn's check_estimator would try of estimators that take lists of sequences."""

import pickle
from contextlib import contextmanager

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sskit.inputs.ragged_array import make_offsets, object_array, split
from sskit.utils import RaggedArray

CHECKS = []
FOLDS = KFold(3)


def ragged_check(function):
    """Put a check on the list; it is called with an estimator, of which it gets a seeded clone.

    The function gets that clone, a list of matrices and a list of label arrays, which are its own.
    """

    def check(estimator):
        function(seeded(estimator), *small_chains())

    check.__name__ = function.__name__
    CHECKS.append(check)
    return check


def small_chains():
    """Return 18 chains of three states that are easy to tell apart: (T_i, 4) and (T_i,)."""
    rng = np.random.RandomState(7)
    offsets = make_offsets(rng.randint(2, 6, size=18))
    first = np.repeat(rng.randint(3, size=18), np.diff(offsets))
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    labels = (first + place + (rng.uniform(size=offsets[-1]) < 0.2)) % 3
    means = np.array([[2.0, 0, 0, 1], [0, 2, 0, 1], [0, 0, 2, 1]])
    values = means[labels] + 0.4 * rng.normal(size=(offsets[-1], 4))
    return [[rows.copy() for rows in split(flat, offsets)] for flat in (values, labels)]


def seeded(estimator, **params):
    """Return a clone with a fixed random state and those of the parameters that it has."""
    known = estimator.get_params()
    params = {"random_state": 0, **params}
    return clone(estimator).set_params(**{name: params[name] for name in params if name in known})


def precise(estimator):
    """Return a clone that comes so close to the optimum that predictions do not wobble."""
    return seeded(estimator, tol=1e-3, max_iter=100_000)


def cut_to_equal_lengths(X, y):
    """Return the beginnings of the sequences, all of the length of the shortest."""
    length = min(len(x) for x in X)
    return [x[:length] for x in X], [labels[:length] for labels in y]


def state_of(estimator):
    """Return a hash of all attributes."""
    return joblib.hash(vars(estimator))


def assert_same_results(a, b, what):
    """Raise unless the fitted numbers and arrays of two estimators are the same bits."""
    a, b = (
        {
            name: value
            for name, value in vars(estimator).items()
            if name.endswith("_")
            and not name.startswith("_")
            and isinstance(value, (np.ndarray, np.generic, int, float))
        }
        for estimator in (a, b)
    )
    assert a.keys() == b.keys(), what
    for name in a:
        assert np.array_equal(a[name], b[name]), f"{what}: {name}"


def assert_sequences(found, lengths, what="predict"):
    """Raise unless a result is a 1-D object array of one array of labels per sequence."""
    assert isinstance(found, np.ndarray) and found.dtype == object, what
    assert found.shape == (len(lengths),), what
    assert [labels.shape for labels in found] == [(length,) for length in lengths], what


def assert_same_labels(found, expected, what):
    """Raise unless two lists of label sequences are equal."""
    assert len(found) == len(expected), what
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert np.array_equal(a, b), f"{what}: sequence {i} has the labels {a} instead of {b}"


@contextmanager
def refused(what, pattern, kinds=(ValueError, TypeError)):
    """Expect an exception with such a message, and say of what if there is none."""
    try:
        with pytest.raises(kinds, match=pattern):
            yield
    except pytest.fail.Exception as error:
        raise AssertionError(f"{what}: {error}") from None


def with_item(items, i, item):
    """Return items with another one in the place of the i-th."""
    return [*items[:i], item, *items[i + 1 :]]


# ---------------------------------------------------------------- parameters, state, results


@ragged_check
def check_parameters_tags_and_pictures(estimator, X, y):
    """Expect that get_params, set_params, clone and tags are as they should be, and a picture."""
    params = estimator.get_params(deep=False)
    again = clone(estimator)
    assert joblib.hash(again.get_params()) == joblib.hash(estimator.get_params())
    assert again.set_params(**params) is again
    assert set(vars(type(estimator)(**params))) == set(params)  # __init__ only stores
    assert not [name for name in params if name.endswith("_")]
    with pytest.raises(ValueError, match="no_such_parameter"):
        again.set_params(no_such_parameter=1)
    tags = get_tags(estimator)
    assert not tags.input_tags.two_d_array and tags.target_tags.required
    assert tags.estimator_type != "classifier", "scikit-learn's searches then fail on y"
    for model in (estimator, clone(estimator).fit(X, y)):
        assert type(model).__name__ in repr(model)
        assert type(model).__name__ in model._repr_html_()


@ragged_check
def check_fit_returns_self_and_sets_attributes(estimator, X, y):
    """Expect that fit returns self and sets attributes that end in an underscore."""
    before = set(vars(estimator))
    assert estimator.fit(X, y) is estimator
    new = set(vars(estimator)) - before
    assert not [name for name in new if not (name.startswith("_") or name.endswith("_"))]
    assert estimator.n_features_in_ == X[0].shape[1]
    assert np.array_equal(estimator.classes_, np.unique(np.concatenate(y)))


@ragged_check
def check_nothing_is_modified(estimator, X, y):
    """Expect that neither parameters nor data are changed, which may be read-only."""
    for array in (*X, *y):
        array.flags.writeable = False
    data = {"X": X, "y": y, "weight": np.linspace(0.5, 1.5, len(X))}
    before, params = joblib.hash(data), joblib.hash(estimator.get_params())
    weighted = has_fit_parameter(estimator, "sample_weight")
    estimator.fit(X, y, **({"sample_weight": data["weight"]} if weighted else {}))
    fitted = state_of(estimator)
    assert_sequences(estimator.predict(X), [len(x) for x in X])
    estimator.score(X, y)
    assert joblib.hash(data) == before
    assert joblib.hash(estimator.get_params()) == params
    assert state_of(estimator) == fitted


@ragged_check
def check_predict_and_score(estimator, X, y):
    """Expect a 1-D object array, also for equal lengths and a single sequence, and a score."""
    estimator.fit(X, y)
    predicted = estimator.predict(X)
    assert_sequences(predicted, [len(x) for x in X])
    assert set(np.concatenate(list(predicted))) <= set(estimator.classes_)
    equal, labels = cut_to_equal_lengths(X, y)
    assert_sequences(estimator.predict(equal), [len(x) for x in equal], "equal lengths")
    for i in (0, len(X) - 1):
        one = estimator.predict(X[i : i + 1])
        assert_sequences(one, [len(X[i])], "one sequence")
        assert_same_labels(one, predicted[i : i + 1], "one sequence alone")
    estimator.fit(equal, labels)
    assert_sequences(estimator.predict(equal), [len(x) for x in equal], "fit to equal lengths")
    assert_same_labels(
        estimator.predict([x[:1] for x in X[:2]]),
        [estimator.predict([x[:1]])[0] for x in X[:2]],
        "sequences of one token",
    )
    score = estimator.fit(X, y).score(X, y)
    assert isinstance(score, float) and 0 <= score <= 1
    assert estimator.score(X, estimator.predict(X)) == 1


@ragged_check
def check_fit_of_one_sequence(estimator, X, y):
    """Expect that one sequence is enough to fit."""
    i = int(np.argmax([len(np.unique(labels)) for labels in y]))
    assert_sequences(estimator.fit(X[i : i + 1], y[i : i + 1]).predict(X), [len(x) for x in X])


@ragged_check
def check_pickle(estimator, X, y):
    """Expect that a pickled and a copied model predict as the model does."""
    predicted = estimator.fit(X, y).predict(X)
    copy = pickle.loads(pickle.dumps(estimator))
    assert_same_labels(copy.predict(X), predicted, "after pickling")
    assert_same_results(copy, estimator, "after pickling")
    unfitted = pickle.loads(pickle.dumps(clone(estimator)))
    assert set(vars(unfitted)) == set(estimator.get_params(deep=False))


@ragged_check
def check_what_decides(estimator, X, y):
    """Expect that random state and data decide the bits: no earlier fit, no number of jobs."""
    first = clone(estimator).fit(X, y)
    wide = [np.hstack([x, x[:, :1]]) for x in X]
    other = [np.where(labels == labels[0], "p", "q") for labels in y]
    estimator.fit(wide, other).fit(X, y)
    assert_same_results(estimator, first, "a second fit with the same random_state")
    with pytest.raises(NotFittedError):
        clone(estimator).predict(X)
    a, b = (seeded(estimator, random_state=np.random.RandomState(3)).fit(X, y) for _ in range(2))
    assert_same_results(a, b, "equal RandomState objects")
    one, two = (seeded(estimator, n_jobs=2).fit(X, y) for _ in range(2))
    assert_same_results(one, two, "n_jobs=2")
    assert_same_labels(two.predict(X), one.predict(X), "n_jobs=2")


@ragged_check
def check_order_of_pairs(estimator, X, y):
    """Expect that the order of training pairs does not matter, nor that of what is predicted."""
    estimator = precise(estimator)
    predicted = clone(estimator).fit(X, y).predict(X)
    order = np.random.RandomState(1).permutation(len(X))
    estimator.fit([X[i] for i in order], [y[i] for i in order])
    assert_same_labels(estimator.predict(X), predicted, "fitted in another order")
    assert_same_labels(estimator.predict(X[::-1])[::-1], predicted, "predicted in another order")
    assert_same_labels(estimator.predict(X[3:7]), predicted[3:7], "predicted a few")


# ---------------------------------------------------------------- what goes in


def forms_of(X, tags):
    """Yield (name, X) for all forms of the same whole, small, non-negative numbers."""
    offsets = make_offsets([len(x) for x in X])
    yield "tuple", tuple(X)
    yield "object array", object_array(X)
    yield "nested lists", [x.tolist() for x in X]
    yield "float32", [x.astype(np.float32) for x in X]
    yield "uint8", [x.astype(np.uint8) for x in X]
    yield "Fortran order", [np.asfortranarray(x) for x in X]
    yield "every second row", [np.repeat(x, 2, axis=0)[::2] for x in X]
    yield "RaggedArray", RaggedArray(np.concatenate(X), offsets)
    yield "data frames", [pd.DataFrame(x) for x in X]
    yield "series of arrays", pd.Series(X)
    if tags.input_tags.sparse:
        yield "CSR matrices", [sp.csr_matrix(x) for x in X]
        yield "CSR arrays", [sp.csr_array(x) for x in X]
        yield "coordinate arrays", [sp.coo_array(x) for x in X]
        yield "CSR and dense", [sp.csr_array(x) if i % 2 else x for i, x in enumerate(X)]
        yield "RaggedArray of CSR", RaggedArray(sp.csr_array(np.concatenate(X)), offsets)


@ragged_check
def check_forms_of_X(estimator, X, y):
    """Expect the same model and predictions from all forms of X."""
    X = [np.clip(np.rint(x), 0, 3) for x in X]  # which all types of numbers hold
    predicted = clone(estimator).fit(X, y).predict(X)
    for name, form in forms_of(X, get_tags(estimator)):
        model = clone(estimator).fit(form, y)
        assert_same_labels(model.predict(X), predicted, f"fitted to X as {name}")
        assert_same_labels(model.predict(form), predicted, f"predicted X as {name}")


@ragged_check
def check_three_dimensional_X(estimator, X, y):
    """Expect that a 3-D array is taken as the list of its matrices."""
    if not get_tags(estimator).input_tags.three_d_array:
        return
    X, y = cut_to_equal_lengths(X, y)
    reference = clone(estimator).fit(X, y)
    for array in (np.stack(X), np.stack(X).transpose(2, 1, 0).copy().transpose(2, 1, 0)):
        model = clone(estimator).fit(array, y)
        assert_same_results(model, reference, "X as a 3-D array")
        predicted = model.predict(array)
        assert_sequences(predicted, [len(x) for x in X], "predict of a 3-D array")
        assert_same_labels(predicted, reference.predict(X), "X as a 3-D array")


@ragged_check
def check_forms_of_y(estimator, X, y):
    """Expect the same model from all forms of y."""
    reference = clone(estimator).fit(X, y)
    forms = {
        "tuple": tuple(y),
        "lists": [labels.tolist() for labels in y],
        "tuples": [tuple(labels.tolist()) for labels in y],
        "object array": object_array(y),
        "RaggedArray": RaggedArray(np.concatenate(y), make_offsets([len(x) for x in X])),
        "labels as objects": [labels.astype(object) for labels in y],
    }
    for name, form in forms.items():
        assert_same_results(clone(estimator).fit(X, form), reference, f"y as {name}")
        assert reference.score(X, form) == reference.score(X, y), name
    X, y = cut_to_equal_lengths(X, y)
    model, reference = clone(estimator).fit(X, np.stack(y)), clone(estimator).fit(X, y)
    assert_same_results(model, reference, "y as a 2-D array")


@ragged_check
def check_types_of_labels(estimator, X, y):
    """Expect labels of any type to come back as they were, with the same model behind them."""
    codes, offsets = np.concatenate(y), make_offsets([len(x) for x in X])
    types = {
        "str": ["label 0", "label 1", "label 2"],
        "str of unequal length": np.array(["a", "ab", "abb"]),
        "numpy str as object": np.array(["é0", "é1", "é2"], dtype=object),
        "bytes": np.array([b"x0", b"x1", b"x2"]),
        "int8": np.arange(3, dtype=np.int8),
        "uint64": np.arange(3, dtype=np.uint64),
        "negative int": [-4, -1, 2],
        "float": np.array([-4.0, -1.0, 2.0]),
        "bool": [False, True, True],
    }
    expected = {
        n: clone(estimator).fit(X, RaggedArray(np.minimum(codes, n - 1), offsets)).predict(X)
        for n in (2, 3)
    }
    for name, labels in types.items():
        flat = [labels[code] for code in codes] if isinstance(labels, list) else labels[codes]
        given = [flat[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
        model = clone(estimator).fit(X, given)
        found = [answer.tolist() for answer in model.predict(X)]
        wanted = [[labels[k] for k in ks] for ks in expected[2 if name == "bool" else 3]]
        assert found == wanted, name
        if not isinstance(labels, list):
            kinds = {labels.dtype.kind, "U"} if labels.dtype == object else {labels.dtype.kind}
            assert model.classes_.dtype.kind in kinds, name


@ragged_check
def check_sample_weight(estimator, X, y):
    """Expect that weights of one are none, and that a weight of zero removes a sequence."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    reference = clone(estimator).fit(X, y)
    for ones in (np.ones(len(X)), [1] * len(X), None):
        model = clone(estimator).fit(X, y, sample_weight=ones)
        assert_same_results(model, reference, "sample_weight of ones")
    estimator = precise(estimator)
    kept = np.arange(len(X)) % 4 != 3
    pairs = [(x, labels) for x, labels, keep in zip(X, y, kept, strict=True) if keep]
    removed = clone(estimator).fit(*map(list, zip(*pairs, strict=True)))
    zeroed = clone(estimator).fit(X, y, sample_weight=kept.astype(float))
    assert_same_labels(zeroed.predict(X), removed.predict(X), "sample_weight of zeros")
    # errors name the weight that is wrong
    for bad in (-1.0, np.nan, np.inf):
        with refused(f"sample_weight[2] = {bad}", r"\[2\]", ValueError):
            clone(estimator).fit(X, y, sample_weight=with_item([1.0] * len(X), 2, bad))
    with refused("too few sample weights", str(len(X)), ValueError):
        clone(estimator).fit(X, y, sample_weight=np.ones(len(X) - 1))


@ragged_check
def check_not_fitted_and_empty(estimator, X, y):
    """Expect NotFittedError at first; then no labels for no tokens, or an error that names it."""
    for name in ("predict", "decision_function"):
        if hasattr(estimator, name):
            with refused(f"{name} before fit", type(estimator).__name__, NotFittedError):
                getattr(estimator, name)(X)
    with pytest.raises(NotFittedError):
        estimator.score(X, y)
    estimator.fit(X, y)
    try:
        predicted = estimator.predict(with_item(X, 2, X[2][:0]))
    except ValueError as error:
        assert "X[2]" in str(error)
        return
    expected = estimator.predict(X)
    assert_same_labels(predicted, with_item(expected, 2, expected[2][:0]), "beside an empty one")


def bad_X(X):
    """Yield (what, X, pattern) for X that neither fit nor predict may take."""
    for what, value in (("NaN", np.nan), ("inf", np.inf), ("inf", -np.inf)):
        x = X[2].copy()
        x[1, 1] = value
        yield f"X with {what}", with_item(X, 2, x), rf"X\[2\].*{what}"
    yield "X without sequences", [], "X"
    yield "X with a sequence of other width", with_item(X, 2, X[2][:, :-1]), r"X\[2\].*features"
    yield "X with a 1-D sequence", with_item(X, 2, X[2][:, 0]), r"X\[2\]"
    yield "X with strings", with_item(X, 2, X[2].astype(str)), r"X\[2\]"
    yield "X with None", with_item(X, 2, None), r"X\[2\]"
    yield "X of complex numbers", with_item(X, 2, X[2] * 1j), r"X\[2\]"
    yield "X as one matrix", np.concatenate(X), "X"
    yield "X as a number", 3.0, "X"


def bad_y(y):
    """Yield (what, y, pattern) for labels that fit may not take."""
    yield "y is None", None, "y"
    yield "too few label sequences", y[:-1], rf"{len(y)}.*{len(y) - 1}"
    yield "too few labels", with_item(y, 2, y[2][:-1]), r"X\[2\].*y\[2\]"
    yield "too many labels", with_item(y, 2, np.append(y[2], y[2])), r"X\[2\].*y\[2\]"
    yield "flat labels", np.concatenate(y), "y"
    yield "one label for a sequence", with_item(y, 2, y[2][0]), r"y\[2\]"
    yield "a missing label", with_item(y, 2, [None, *y[2][1:]]), r"y\[2\]\[0\]"
    yield "a label that is NaN", with_item(y, 2, [np.nan, *y[2][1:]]), r"y\[2\]\[0\]"
    yield "labels as a column", with_item(y, 2, y[2][:, None]), r"y\[2\]"


@ragged_check
def check_bad_data(estimator, X, y):
    """Expect errors that name the item, from fit and predict; a model stays what it was."""
    estimator.fit(X, y)
    fitted, new = state_of(estimator), clone(estimator)
    unfitted = state_of(new)
    cases = [(what, bad, y, pattern) for what, bad, pattern in bad_X(X)]
    cases += [(what, X, bad, pattern) for what, bad, pattern in bad_y(y)]
    empty = with_item(X, 2, X[2][:0]), with_item(y, 2, y[2][:0])
    for what, X_bad, y_bad, pattern in [*cases, ("an empty sequence", *empty, r"X\[2\]")]:
        for model in (new, estimator):
            with refused(f"fit with {what}", pattern):
                model.fit(X_bad, y_bad)
    for what, bad, pattern in bad_X(X):
        with refused(f"predict with {what}", pattern):
            estimator.predict(bad)
    n_features = X[0].shape[1]
    with refused("other features", rf"{2 * n_features} features.*{n_features} features"):
        estimator.predict([np.hstack([x, x]) for x in X])
    assert state_of(estimator) == fitted, "an error changed the fitted estimator"
    assert state_of(new) == unfitted, "a failed fit changed the estimator"


# ---------------------------------------------------------------- tools of scikit-learn


def grid(estimator, prefix=""):
    """Return values to search: of lam if the estimator has it, else those that are set."""
    params = estimator.get_params(deep=False)
    name = "lam" if "lam" in params else min(params)
    return {prefix + name: [0.1, 1.0] if name == "lam" else [params[name]]}


def with_errors(y):
    """Return labels that no fit gets all right, so that scores tell weights and folds apart."""
    return [labels[::-1] if i % 3 == 0 else labels for i, labels in enumerate(y)]


def folds(X, y):
    """Yield (training X and y, test X and y, training rows, test rows)."""
    for train, test in FOLDS.split(X):
        parts = [[items[i] for i in rows] for rows in (train, test) for items in (X, y)]
        yield parts[:2], parts[2:], train, test


@ragged_check
def check_grid_search(estimator, X, y):
    """Expect that GridSearchCV works, with the same scores in one process and two."""
    scores = []
    for n_jobs in (1, 2):
        search = GridSearchCV(estimator, grid(estimator), cv=FOLDS, n_jobs=n_jobs).fit(X, y)
        assert_sequences(search.predict(X), [len(x) for x in X], "GridSearchCV.predict")
        assert 0 <= search.score(X, y) <= 1
        scores.append(search.cv_results_["mean_test_score"])
    assert np.isfinite(scores).all() and np.array_equal(*scores)


@ragged_check
def check_halving_grid_search(estimator, X, y):
    """Expect that HalvingGridSearchCV works."""
    options = {"cv": FOLDS, "factor": 2, "min_resources": 9, "random_state": 0}
    search = HalvingGridSearchCV(estimator, grid(estimator), **options).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert_sequences(search.predict(X), [len(x) for x in X], "HalvingGridSearchCV.predict")


@ragged_check
def check_cross_validation(estimator, X, y):
    """Expect that cross_validate and cross_val_predict do what a loop over the folds does."""
    y = with_errors(y)
    scores = cross_validate(estimator, X, y, cv=FOLDS, return_train_score=True)["test_score"]
    predicted = cross_val_predict(estimator, X, y, cv=FOLDS)
    assert_sequences(predicted, [len(x) for x in X], "cross_val_predict")
    for score, (train, test, _, rows) in zip(scores, folds(X, y), strict=True):
        model = clone(estimator).fit(*train)
        assert score == model.score(*test)
        assert_same_labels(predicted[rows], model.predict(test[0]), "cross_val_predict")
    as_arrays = cross_val_score(estimator, object_array(X), object_array(y), cv=FOLDS)
    assert np.array_equal(as_arrays, scores), "object arrays give other scores"


@ragged_check
def check_pipeline(estimator, X, y):
    """Expect that a pipeline hands data and parameters on."""
    pipeline = Pipeline([("identity", FunctionTransformer()), ("model", clone(estimator))])
    predicted = pipeline.fit(X, y).predict(X)
    assert_same_labels(predicted, clone(estimator).fit(X, y).predict(X), "in a pipeline")
    assert 0 <= pipeline.score(X, y) <= 1
    search = GridSearchCV(pipeline, grid(estimator, "model__"), cv=FOLDS).fit(X, y)
    assert_sequences(search.predict(X), [len(x) for x in X], "a search over a pipeline: predict")


@ragged_check
def check_metadata_routing(estimator, X, y):
    """Expect that sample weights reach fit and score through searches and cross-validation."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    weight, y = np.linspace(0.1, 3.0, len(X)), with_errors(y)
    expected = []
    for train, test, train_rows, test_rows in folds(X, y):
        model = clone(estimator).fit(*train, sample_weight=weight[train_rows])
        expected.append(model.score(*test, sample_weight=weight[test_rows]))
    with config_context(enable_metadata_routing=True):
        routed = clone(estimator).set_fit_request(sample_weight=True)
        routed.set_score_request(sample_weight=True)
        scores = cross_validate(routed, X, y, cv=FOLDS, params={"sample_weight": weight})
        search = GridSearchCV(routed, {}, cv=FOLDS).fit(X, y, sample_weight=weight)
        pipeline = Pipeline([("identity", FunctionTransformer()), ("model", routed)])
        pipeline.fit(X, y, sample_weight=weight)
    assert np.array_equal(scores["test_score"], expected), "cross_validate"
    found = [search.cv_results_[f"split{k}_test_score"][0] for k in range(3)]
    assert np.array_equal(found, expected), "GridSearchCV"
    predicted = clone(estimator).fit(X, y, sample_weight=weight).predict(X)
    assert_same_labels(search.predict(X), predicted, "the refit of a routed GridSearchCV")
    assert_same_labels(pipeline.predict(X), predicted, "a routed pipeline")
