"""One sentence of dicts is labelled without matrices, as with others beside it."""

import numpy as np
import pytest

from sskit import SequenceTagger

KINDS = {
    "strings": ["A", "Bc", "D"],
    "numbers": [3, -1, 7],
    "objects": np.array(["A", "Bc", "D"], dtype=object),
    "dates": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]"),
}


def sentences(labels, n=40):
    """Sentences of dicts of strings, numbers and dicts, and their labels."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        drawn = rng.integers(12, size=rng.integers(1, 7))
        X.append([
            {"word": f"w{k}", "size": k / 4 - 1, "inner": {"odd": bool(k % 2)}, "0": ["a", "a"]}
            for k in drawn.tolist()
        ])  # fmt: skip
        y.append(np.asarray(labels)[drawn % 3])
    return X, y


@pytest.mark.parametrize("kind", KINDS)
def test_as_beside_others(kind):
    X, y = sentences(KINDS[kind])
    tagger = SequenceTagger(random_state=0).fit(X, y)
    # a word and an attribute that training has not, too
    strange = [{"word": "new", "other": 1.0}, {}]
    for x in [*X, strange]:
        (alone,), (beside, _) = tagger.predict([x]), tagger.predict([x, x])
        assert alone.dtype == beside.dtype and np.array_equal(alone, beside)
    assert tagger.predict([strange]).shape == (1,)


@pytest.mark.parametrize("token", [{"word": None}, {"size": np.inf}, {3: "a"}, 7, {"size": ...}])
def test_same_errors(token):
    X, y = sentences(KINDS["strings"])
    tagger = SequenceTagger(random_state=0, max_iter=2, tol=0.5).fit(X, y)
    errors = []
    for asked in ([[X[0][0], token]], [[X[0][0], token], X[1]]):
        with pytest.raises((TypeError, ValueError)) as error:
            tagger.predict(asked)
        errors.append(str(error.value))
    assert errors[0] == errors[1] and "X[0][1]" in errors[0]


@pytest.mark.parametrize("name", ["coef_", "transitions_", "start_", "end_", "classes_"])
def test_damaged_weights_are_found(name):
    X, y = sentences(KINDS["strings"])
    tagger = SequenceTagger(random_state=0, max_iter=2, tol=0.5).fit(X, y)
    whole = getattr(tagger, name)
    damaged = [whole[:-1], whole.astype(object), None]
    if name != "classes_":
        damaged += [np.full_like(whole, np.nan), np.full_like(whole, 1e200)]
    for wrong in damaged[: 2 if name == "classes_" else None]:
        setattr(tagger, name, wrong)
        if name == "classes_" and wrong.dtype == object:
            assert tagger.predict([X[0]])[0].tolist() == tagger.predict(X[:2])[0].tolist()
            continue
        errors = []
        for asked in (X[:1], X[:2]):
            with pytest.raises((TypeError, ValueError)) as error:
                tagger.predict(asked)
            errors.append(str(error.value))
        assert errors[0] == errors[1]
    setattr(tagger, name, np.asfortranarray(whole)[..., :])
    assert np.array_equal(tagger.predict(X[:1])[0], tagger.predict(X[:2])[0])


def test_what_is_set_since_the_fit_counts():
    X, y = sentences(KINDS["strings"])
    tagger = SequenceTagger(random_state=0).fit(X, y)
    longest = max(X, key=len)
    tagger.allowed_transitions = np.eye(3, dtype=bool)
    assert len(set(tagger.predict([longest])[0])) == 1
    tagger.allowed_transitions, tagger.beam_size = None, 0
    with pytest.raises(ValueError, match="beam_size"):
        tagger.predict([longest])
