"""Checks of what goes in: forms of X and y, types of labels, weights, and what is refused."""

from contextlib import suppress

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sskit.inputs.ragged_array import RaggedArray, make_offsets, object_array
from sskit.utils._checking import (
    assert_same_labels,
    assert_same_results,
    assert_sequences,
    cut_to_equal_lengths,
    precise,
    ragged_check,
    raises,
    state_of,
)


def _forms(X, tags):
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
    if tags.input_tags.sparse:
        yield "CSR matrices", [sp.csr_matrix(x) for x in X]
        yield "CSR arrays", [sp.csr_array(x) for x in X]
        yield "coordinate arrays", [sp.coo_array(x) for x in X]
        yield "CSR and dense", [sp.csr_array(x) if i % 2 else x for i, x in enumerate(X)]
        yield "RaggedArray of CSR", RaggedArray(sp.csr_array(np.concatenate(X)), offsets)
    with suppress(ImportError):
        from pandas import DataFrame, Series

        yield "data frames", [DataFrame(x) for x in X]
        yield "series of arrays", Series(X)


def _whole_numbers(X):
    """Return data of whole numbers from 0 to 3, which all number types hold."""
    return [np.clip(np.rint(x), 0, 3) for x in X]


@ragged_check
def check_forms_of_X(estimator, X, y):
    """Expect the same model and predictions from all forms of X."""
    X = _whole_numbers(X)
    predicted = clone(estimator).fit(X, y).predict(X)
    for name, form in _forms(X, get_tags(estimator)):
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
        assert reference.score(X, form) == reference.score(X, y), f"score with y as {name}"
    X, y = cut_to_equal_lengths(X, y)
    assert_same_results(
        clone(estimator).fit(X, np.stack(y)), clone(estimator).fit(X, y), "y as a 2-D array"
    )


@ragged_check
def check_types_of_labels(estimator, X, y):
    """Expect labels of any type to come back as they were, with the same model behind them."""
    _, codes = np.unique(np.concatenate(y), return_inverse=True)
    offsets = make_offsets([len(x) for x in X])
    n_labels = codes.max() + 1
    negative = np.arange(n_labels) * 3 - 4
    types = {
        "str": np.array([f"label {k:03d}" for k in range(n_labels)]).tolist(),
        "str of unequal length": np.array(["a" + "b" * k for k in range(n_labels)]),
        "numpy str as object": np.array([f"é{k:03d}" for k in range(n_labels)], dtype=object),
        "bytes": np.array([b"x%03d" % k for k in range(n_labels)]),
        "int8": np.arange(n_labels, dtype=np.int8),
        "uint64": np.arange(n_labels, dtype=np.uint64),
        "negative int": negative.tolist(),
        "float": negative.astype(float),
        "bool": [k > 0 for k in range(n_labels)],
    }
    models = {
        n: clone(estimator).fit(X, RaggedArray(np.minimum(codes, n - 1), offsets)).predict(X)
        for n in (2, n_labels)
    }
    for name, labels in types.items():
        expected = models[2 if name == "bool" else n_labels]
        is_list = isinstance(labels, list)
        flat = [labels[code] for code in codes] if is_list else labels[codes]
        given = [flat[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
        model = clone(estimator).fit(X, given)
        predicted = model.predict(X)
        for i, codes_i in enumerate(expected):
            wanted = [labels[code] for code in codes_i]
            found = predicted[i].tolist()
            assert found == wanted, f"labels of type {name}: {found} instead of {wanted}"
        if not is_list:
            kind = model.classes_.dtype.kind
            kinds = {labels.dtype.kind, "U"} if labels.dtype == object else {labels.dtype.kind}
            assert kind in kinds, f"labels of type {name} became {model.classes_.dtype}"


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


@ragged_check
def check_bad_sample_weight(estimator, X, y):
    """Expect errors that name the weight that is wrong."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    for bad, pattern in ((-1.0, r"\[2\]"), (np.nan, r"\[2\]"), (np.inf, r"\[2\]")):
        weight = np.ones(len(X))
        weight[2] = bad
        with raises(ValueError, pattern, what=f"fit with sample_weight[2] = {bad}"):
            clone(estimator).fit(X, y, sample_weight=weight)
    with raises(ValueError, str(len(X)), what="fit with too few sample weights"):
        clone(estimator).fit(X, y, sample_weight=np.ones(len(X) - 1))


@ragged_check
def check_not_fitted(estimator, X, y):
    """Expect NotFittedError from all methods of a model that is not fitted."""
    for name in ("predict", "decision_function"):
        if hasattr(estimator, name):
            with raises(NotFittedError, type(estimator).__name__, what=f"{name} before fit"):
                getattr(estimator, name)(X)
    with raises(NotFittedError, what="score before fit"):
        estimator.score(X, y)


@ragged_check
def check_empty_sequence(estimator, X, y):
    """Expect no labels for a sequence without tokens, or an error that names it."""
    estimator.fit(X, y)
    try:
        predicted = estimator.predict(_with(X, 2, X[2][:0]))
    except ValueError as error:
        assert "X[2]" in str(error), f"the error about an empty sequence does not name it: {error}"
        return
    assert len(predicted) == len(X), "a batch with an empty sequence gets too few answers"
    assert len(predicted[2]) == 0, "an empty sequence gets labels"
    others = [i for i in range(len(X)) if i != 2]
    assert_same_labels(
        [predicted[i] for i in others],
        estimator.predict([X[i] for i in others]),
        "sequences beside an empty one",
    )


def _with(items, i, item):
    return [*items[:i], item, *items[i + 1 :]]


def _bad_X(X):
    """Yield (what, X, pattern) for X that neither fit nor predict may take."""
    for what, value in (("NaN", np.nan), ("inf", np.inf), ("inf", -np.inf)):
        x = X[2].copy()
        x[1, 1] = value
        yield f"X with {what}", _with(X, 2, x), rf"X\[2\].*{what}"
    yield "X without sequences", [], "X"
    yield "X with a sequence of other width", _with(X, 2, X[2][:, :-1]), r"X\[2\].*features"
    yield "X with a 1-D sequence", _with(X, 2, X[2][:, 0]), r"X\[2\]"
    yield "X with strings", _with(X, 2, X[2].astype(str)), r"X\[2\]"
    yield "X with None", _with(X, 2, None), r"X\[2\]"
    yield "X of complex numbers", _with(X, 2, X[2] * 1j), r"X\[2\]"
    yield "X as one matrix", np.concatenate(X), "X"
    yield "X as a number", 3.0, "X"


def _bad_y(y):
    """Yield (what, y, pattern) for labels that fit may not take."""
    yield "y is None", None, "y"
    yield "too few label sequences", y[:-1], rf"{len(y)}.*{len(y) - 1}"
    yield "too few labels", _with(y, 2, y[2][:-1]), r"X\[2\].*y\[2\]"
    yield "too many labels", _with(y, 2, np.append(y[2], y[2])), r"X\[2\].*y\[2\]"
    yield "flat labels", np.concatenate(y), "y"
    yield "one label for a sequence", _with(y, 2, y[2][0]), r"y\[2\]"
    yield "a missing label", _with(y, 2, [None, *y[2][1:]]), r"y\[2\]\[0\]"
    yield "a label that is NaN", _with(y, 2, [np.nan, *y[2][1:]]), r"y\[2\]\[0\]"
    yield "labels as a column", _with(y, 2, y[2][:, None]), r"y\[2\]"


@ragged_check
def check_bad_data(estimator, X, y):
    """Expect errors that name the item, from fit and predict; a model stays what it was."""
    estimator.fit(X, y)
    fitted, new = state_of(estimator), clone(estimator)
    unfitted = state_of(new)
    errors = (ValueError, TypeError)
    for what, bad, pattern in _bad_X(X):
        for model in (new, estimator):
            with raises(errors, pattern, what=f"fit with {what}"):
                model.fit(bad, y)
        with raises(errors, pattern, what=f"predict with {what}"):
            estimator.predict(bad)
    what = "fit with X with an empty sequence"
    for model in (new, estimator):
        with raises(errors, r"X\[2\]", what=what):
            model.fit(_with(X, 2, X[2][:0]), _with(y, 2, y[2][:0]))
    for what, bad, pattern in _bad_y(y):
        for model in (new, estimator):
            with raises(errors, pattern, what=f"fit with {what}"):
                model.fit(X, bad)
    wider = [np.hstack([x, x]) for x in X]
    n_features = X[0].shape[1]
    pattern = rf"{2 * n_features} features.*{n_features} features"
    with raises(ValueError, pattern, what="predict with other features than fit"):
        estimator.predict(wider)
    assert state_of(estimator) == fitted, "an error changed the fitted estimator"
    assert state_of(new) == unfitted, "a failed fit changed the estimator"
