"""Checks of what fit and predict do, and leave undone, with parameters, data and state."""

import pickle

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sskit.utils._checking import (
    assert_same_labels,
    assert_same_results,
    assert_sequences,
    cut_to_equal_lengths,
    precise,
    ragged_check,
    raises,
    seeded,
    state_of,
)


@ragged_check
def check_parameters(estimator, X, y):
    """Expect that get_params, set_params and clone agree, and that __init__ only stores."""
    params = estimator.get_params(deep=False)
    again = clone(estimator)
    assert again is not estimator, "clone returned the estimator itself"
    assert joblib.hash(again.get_params()) == joblib.hash(estimator.get_params()), (
        "a clone has other parameters"
    )
    assert again.set_params(**params) is again, "set_params must return the estimator"
    assert set(vars(type(estimator)(**params))) == set(params), (
        "__init__ must store its parameters and nothing else"
    )
    for name in params:
        assert not name.endswith("_"), f"the parameter {name} ends in an underscore"
    with raises(ValueError, "no_such_parameter", what="set_params(no_such_parameter=1)"):
        again.set_params(no_such_parameter=1)


@ragged_check
def check_tags(estimator, X, y):
    """Expect tags that keep two-dimensional checks away and ask for labels."""
    tags = get_tags(estimator)
    assert not tags.input_tags.two_d_array, "input_tags.two_d_array must be False"
    assert tags.target_tags.required, "target_tags.required must be True"
    assert tags.estimator_type != "classifier", (
        "a ragged estimator must not be a classifier: scikit-learn's searches then fail on y"
    )


@ragged_check
def check_representation(estimator, X, y):
    """Expect a text and an HTML representation, before and after fit."""
    for model in (estimator, clone(estimator).fit(X, y)):
        assert type(model).__name__ in repr(model), "repr does not name the class"
        assert type(model).__name__ in model._repr_html_(), "the HTML does not name the class"


@ragged_check
def check_fit_returns_self_and_sets_attributes(estimator, X, y):
    """Expect that fit returns self and sets attributes that end in an underscore."""
    before = set(vars(estimator))
    assert estimator.fit(X, y) is estimator, "fit must return self"
    new = set(vars(estimator)) - before
    wrong = [name for name in new if not (name.startswith("_") or name.endswith("_"))]
    assert not wrong, f"fit set attributes that do not end in an underscore: {wrong}"
    assert estimator.n_features_in_ == X[0].shape[1], "n_features_in_ is wrong"
    assert np.array_equal(estimator.classes_, np.unique(np.concatenate(y))), (
        "classes_ must be the sorted labels"
    )


@ragged_check
def check_nothing_is_modified(estimator, X, y):
    """Expect that neither parameters nor X, y and sample_weight are changed by any method."""
    data = {"X": X, "y": y, "weight": np.linspace(0.5, 1.5, len(X))}
    before, params = joblib.hash(data), joblib.hash(estimator.get_params())
    weighted = has_fit_parameter(estimator, "sample_weight")
    estimator.fit(X, y, **({"sample_weight": data["weight"]} if weighted else {}))
    fitted = state_of(estimator)
    estimator.predict(X)
    estimator.score(X, y)
    assert joblib.hash(data) == before, "X, y or sample_weight were changed"
    assert joblib.hash(estimator.get_params()) == params, "fit changed parameters"
    assert state_of(estimator) == fitted, "predict or score changed the estimator"


@ragged_check
def check_read_only_data(estimator, X, y):
    """Expect that arrays that cannot be written to do."""
    for array in (*X, *y):
        array.flags.writeable = False
    assert_sequences(estimator.fit(X, y).predict(X), [len(x) for x in X])


@ragged_check
def check_predict_returns_object_array(estimator, X, y):
    """Expect a 1-D object array, also for equal lengths and for a single sequence."""
    estimator.fit(X, y)
    predicted = estimator.predict(X)
    assert_sequences(predicted, [len(x) for x in X])
    assert set(np.concatenate(list(predicted))) <= set(estimator.classes_), "unknown labels"
    equal, labels = cut_to_equal_lengths(X, y)
    assert_sequences(estimator.predict(equal), [len(x) for x in equal], "equal lengths: predict")
    for i in (0, len(X) - 1):
        one = estimator.predict(X[i : i + 1])
        assert_sequences(one, [len(X[i])], "one sequence: predict")
        assert_same_labels(one, predicted[i : i + 1], "one sequence alone")
    estimator.fit(equal, labels)
    assert_sequences(estimator.predict(equal), [len(x) for x in equal], "equal lengths: predict")
    assert_same_labels(
        estimator.predict([x[:1] for x in X[:2]]),
        [estimator.predict([x[:1]])[0] for x in X[:2]],
        "sequences of one token",
    )


@ragged_check
def check_fit_of_one_sequence(estimator, X, y):
    """Expect that one sequence is enough to fit."""
    i = int(np.argmax([len(np.unique(labels)) for labels in y]))
    assert_sequences(estimator.fit(X[i : i + 1], y[i : i + 1]).predict(X), [len(x) for x in X])


@ragged_check
def check_score(estimator, X, y):
    """Expect that score is a number from 0 to 1, 1 on the own predictions."""
    estimator.fit(X, y)
    score = estimator.score(X, y)
    assert isinstance(score, float) and 0 <= score <= 1, f"score returned {score!r}"
    assert estimator.score(X, estimator.predict(X)) == 1, "the score of the predictions is not 1"


@ragged_check
def check_pickle(estimator, X, y):
    """Expect that a pickled and a copied model predict as the model does."""
    predicted = estimator.fit(X, y).predict(X)
    copy = pickle.loads(pickle.dumps(estimator))
    assert_same_labels(copy.predict(X), predicted, "after pickling")
    assert_same_results(copy, estimator, "after pickling")
    unfitted = pickle.loads(pickle.dumps(clone(estimator)))
    assert set(vars(unfitted)) == set(estimator.get_params(deep=False)), (
        "an unfitted estimator has other attributes after pickling"
    )


@ragged_check
def check_refit(estimator, X, y):
    """Expect that a fit forgets all earlier ones, and that a clone of a model is not fitted."""
    first = clone(estimator).fit(X, y)
    wide = [np.hstack([x, x[:, :1]]) for x in X]
    other = [np.where(labels == labels[0], "p", "q") for labels in y]
    estimator.fit(wide, other).fit(X, y)
    assert_same_results(estimator, first, "a second fit")
    with raises(NotFittedError, what="predict of a clone of a fitted model"):
        clone(estimator).predict(X)


@ragged_check
def check_random_state(estimator, X, y):
    """Expect that the same random state gives the same bits."""
    assert_same_results(clone(estimator).fit(X, y), estimator.fit(X, y), "the same random_state")
    a, b = (seeded(estimator, random_state=np.random.RandomState(3)).fit(X, y) for _ in range(2))
    assert_same_results(a, b, "equal RandomState objects")


@ragged_check
def check_n_jobs(estimator, X, y):
    """Expect that a number of jobs gives the same bits again, and changes no prediction."""
    one, two = (seeded(estimator, n_jobs=2).fit(X, y) for _ in range(2))
    assert_same_results(one, two, "n_jobs=2")
    assert_same_labels(two.predict(X), one.predict(X), "n_jobs=2")


@ragged_check
def check_order_of_training_pairs(estimator, X, y):
    """Expect that the order of the training pairs does not matter at the optimum."""
    estimator = precise(estimator)
    predicted = clone(estimator).fit(X, y).predict(X)
    order = np.random.RandomState(1).permutation(len(X))
    estimator.fit([X[i] for i in order], [y[i] for i in order])
    assert_same_labels(estimator.predict(X), predicted, "fitted in another order")


@ragged_check
def check_order_of_sequences_to_predict(estimator, X, y):
    """Expect that a sequence is labelled without regard to the others."""
    predicted = estimator.fit(X, y).predict(X)
    assert_same_labels(estimator.predict(X[::-1])[::-1], predicted, "predicted in another order")
    assert_same_labels(estimator.predict(X[3:7]), predicted[3:7], "predicted a few")
