"""Labels that break the rules of transitions, and rules that are set on a fitted tagger."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from sskit import EarlyStopping, SequenceTagger
from sskit._tag_schemes import find_violations
from sskit.datasets import make_chains
from sskit.models.chain.transitions import kinds_of, repair, scheme_transitions

NAMES = np.array(["B-x", "B-y", "I-x", "I-y", "O"])


@pytest.fixture(scope="module")
def corpus():
    """Sequences of which many labels are not legal."""
    X, y = make_chains(30, n_features=5, n_states=5, noise=2.0, max_length=7, random_state=3)
    return X, [NAMES[states] for states in y]


def tagger(**options):
    return SequenceTagger(
        **{"lam": 0.05, "tol": 0.01, "random_state": 0, "allowed_transitions": "bio"} | options
    )


def n_violations(y, classes=NAMES):
    labels = np.searchsorted(classes, np.concatenate(y))
    offsets = np.cumsum([0, *map(len, y)])
    return len(find_violations(labels, offsets, *scheme_transitions("bio", classes)))


def test_they_are_counted_and_up_to_ten_are_named(corpus):
    X, y = corpus
    model = tagger()
    with pytest.raises(ValueError, match=f"there are {n_violations(y)} such labels") as caught:
        model.fit(X, y)
    assert str(caught.value).count("] is ") == 10
    assert "on_violation='repair'" in str(caught.value)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_repaired_labels_are_trained_on(kernel, corpus):
    X, y = corpus
    model = tagger(on_violation="repair", kernel=kernel)
    before = [labels.copy() for labels in y]
    told = r"11 labels .* first of them y\[8\]\[0\] from I-x to B-y"
    with pytest.warns(UserWarning, match=told) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert all(map(np.array_equal, y, before))
    assert n_violations(model.predict(X)) == 0
    assert model.certified_
    # the same as training on labels that are repaired by hand
    repaired = clone(model).set_params(on_violation="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hand = mend(y)
        repaired.fit(X, hand)
        model.fit(X, hand)
    for name in ("transitions_", "dual_gap_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(repaired, name))


def test_early_stopping_tells_of_repairs_once(corpus):
    X, y = corpus
    model = EarlyStopping(tagger(on_violation="repair"), n_iter_no_change=2, random_state=0)
    told = "labels that allowed_transitions does not allow were changed"
    with pytest.warns(UserWarning, match=told) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match=told) as caught:
        model.fit(X, y, X_val=X[:5], y_val=y[:5])
    assert len(caught) == 1
    assert not hasattr(model.estimator_, "_watch")


def mend(y):
    """Repaired labels, sequence by sequence."""
    offsets = np.cumsum([0, *map(len, y)])
    labels = np.searchsorted(NAMES, np.concatenate(y))
    rules = scheme_transitions("bio", NAMES)
    tokens = find_violations(labels, offsets, *rules)
    return np.split(NAMES[repair(tokens, labels, offsets, *rules, kinds_of(NAMES))], offsets[1:-1])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rules_of_prediction_only(kernel, corpus):
    X, y = corpus
    free = tagger(allowed_transitions=None, kernel=kernel).fit(X, y)
    ruled = tagger(on_violation="ignore", kernel=kernel).fit(X, y)
    assert ruled.dual_gap_ == free.dual_gap_
    np.testing.assert_array_equal(ruled.transitions_, free.transitions_)
    assert n_violations(free.predict(X)) > 0
    assert n_violations(ruled.predict(X)) == 0
    assert ruled.allowed_transitions_.shape == (5, 5)
    # prediction keeps to rules that are set after the fit, and forgets those that are taken away
    free.set_params(allowed_transitions="bio")
    assert all(map(np.array_equal, free.predict(X), ruled.predict(X)))
    assert all(n_violations(some) == 0 for some in zip(*free.predict_topk(X[:3], 2), strict=False))
    assert (free.decision_function(X)[0][0, 2:4] == -np.inf).all()
    ruled.set_params(allowed_transitions=None)
    assert n_violations(ruled.predict(X)) > 0
    ruled.set_params(allowed_transitions=np.ones((4, 4), dtype=bool))
    with pytest.raises(ValueError, match=r"boolean array of shape \(5, 5\)"):
        ruled.predict(X)
    ruled.set_params(allowed_transitions="iob")
    with pytest.raises(ValueError, match="'allowed_transitions' parameter of SequenceTagger"):
        ruled.predict(X)


def test_with_other_options(corpus):
    X, y = corpus
    for solver in ("bcfw", "cutting_plane", "frank_wolfe", "subgradient"):
        for action, rescaling in (("repair", "margin"), ("ignore", "margin"), ("repair", "slack")):
            model = tagger(solver=solver, rescaling=rescaling, tol=0.2, max_iter=3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = model.set_params(on_violation=action).fit(X, y)
            assert n_violations(fitted.predict(X)) == 0


@pytest.mark.parametrize("name", ["transitions_", "start_", "end_"])
def test_weights_that_are_not_finite_are_refused(name, corpus):
    model = tagger(allowed_transitions=None, tol=0.5).fit(*corpus)
    for value in (-np.inf, np.inf, np.nan):
        getattr(model, name).flat[1] = value
        with pytest.raises(ValueError, match=rf"{name}\[.*1\] is {value}"):
            model.predict(corpus[0])
