"""Models of CRFsuite: what is written and read predicts as the tagger and as CRFsuite do."""

import struct
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from sskit import CalibratedTagger, SequenceTagger, TreeTagger
from sskit.crfsuite import describe_columns, load_crfsuite, save_crfsuite
from sskit.crfsuite._format import FEATURE, hashes, read_model, write_model
from sskit.datasets import load_conll
from sskit.preprocessing import TokenVectorizer
from sskit.utils import to_lists

FILES = Path(__file__).resolve().parents[2] / "doc" / "files"
NO_ENDS = {"start": (0, 0), "end": (0, 0)}


def addresses(name, n):
    X, y = load_conll(FILES / f"addresses_{name}.txt", columns=["word", "part"])
    return describe_columns(X[:n]), y[:n]


@pytest.fixture(scope="module")
def data():
    return *addresses("train", 300), *addresses("test", 146)


def opened(path):
    """Return the tagger of python-crfsuite with the model of a file."""
    tagger = pytest.importorskip("pycrfsuite").Tagger()
    tagger.open(str(path))
    return tagger


def theirs(path, X):
    """Return what python-crfsuite predicts with a model."""
    tagger = opened(path)
    return [tagger.tag(tokens) for tokens in X]


def train(path, X, y, algorithm, params):
    """Write a model that python-crfsuite trains; return its log."""
    trainer = pytest.importorskip("pycrfsuite").Trainer(algorithm=algorithm, verbose=False)
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    trainer.set_params(params)
    trainer.train(str(path))
    return trainer.logparser


def marked(X, start="sskit:start", end="sskit:end"):
    X = [[dict(token) for token in tokens] for tokens in X]
    for tokens in X:
        tokens[0][start] = tokens[-1][end] = 1.0
    return X


def test_crfsuite_predicts_as_the_tagger_does(data, tmp_path):
    X, y, X_test, _ = data
    path = tmp_path / "model.crfsuite"
    for bounds, given in ((NO_ENDS, X_test), (None, marked(X_test))):
        tagger = SequenceTagger(bounds=bounds, tol=0.1, random_state=0).fit(X, y)
        save_crfsuite(tagger, path)
        found = to_lists(tagger.predict(X_test))
        assert to_lists(load_crfsuite(path).predict(given)) == found
        assert theirs(path, given) == found
    # marks that tokens have already
    X, X_test = marked(X, "address.start", "end"), marked(X_test, "address.start", "end")
    tagger = SequenceTagger(tol=0.1, random_state=0).fit(X, y)
    save_crfsuite(tagger, path, start="address.start", end="end")
    assert theirs(path, X_test) == to_lists(tagger.predict(X_test))
    assert "sskit:start" not in load_crfsuite(path).feature_names_in_


@pytest.mark.parametrize("algorithm", ["ap", "lbfgs"])
def test_the_tagger_predicts_as_crfsuite_does(data, tmp_path, algorithm):
    X, y, X_test, y_test = data
    path = tmp_path / "model.crfsuite"
    train(path, X, y, algorithm, {"max_iterations": 15})
    tagger = load_crfsuite(path)
    assert to_lists(tagger.predict(X_test)) == theirs(path, X_test)
    # and once more, by a file of our own
    save_crfsuite(tagger, tmp_path / "again.crfsuite")
    again = load_crfsuite(tmp_path / "again.crfsuite")
    assert to_lists(again.predict(X_test)) == theirs(path, X_test)
    # it is explained, calibrated and trained further
    assert len(tagger.weights_frame(top=1)) > 5
    assert tagger.explain(X_test, 0, 0).attrs["label"] == tagger.predict(X_test)[0][0]
    proba = CalibratedTagger(tagger, cv="prefit").fit(X_test, y_test).predict_proba(X_test[:1])
    np.testing.assert_allclose(proba[0].sum(axis=1), 1.0)
    prior = SequenceTagger(prior=tagger, random_state=0).fit(X[:60], y[:60])
    alone = SequenceTagger(random_state=0).fit(X[:60], y[:60])
    assert prior.score(X_test, y_test) > 0.1 + alone.score(X_test, y_test)


def test_the_objective_of_the_likelihood_is_that_of_crfsuite(data, tmp_path):
    """With weights for all features and labels, which CRFsuite calls possible states."""
    X, y, *_ = data
    params = {"feature.possible_states": True, "feature.possible_transitions": True}
    params |= {"c2": 1.0, "epsilon": 1e-6, "delta": 1e-8}
    log = train(tmp_path / "model.crfsuite", marked(X), y, "lbfgs", params)
    theirs = log.last_iteration["loss"]
    # c2 ||w||^2 - sum_i log p_i is n times lam / 2 ||w||^2 - mean log p with lam = 2 c2 / n
    tagger = SequenceTagger(surrogate="log", lam=2.0 / len(X), tol=1e-5).fit(X, y)
    ours = tagger.primal_objective_ * len(X)
    assert tagger.certified_ and ours == pytest.approx(theirs, rel=1e-4)
    loose = SequenceTagger(surrogate="log", lam=2.0 / len(X)).fit(X, y)
    assert loose.dual_objective_ * len(X) <= ours <= loose.primal_objective_ * len(X) * (1 + 1e-5)


TOKENS = [[{"word": "a=b:c", "n": 2.0, "of": {"word": "é"}, "s": ["x", "y"]}, {"word": "d"}]] * 3
LISTS = [[["word=a", "end"], ["word=b:c"]]] * 3
TAGS = [["B-X", "O"]] * 3


@pytest.mark.parametrize(
    ("X", "separator"), [(TOKENS, ":"), (LISTS, None)], ids=["dicts", "lists of strings"]
)
def test_names_are_those_of_python_crfsuite(X, separator, tmp_path):
    path = tmp_path / "model.crfsuite"
    tagger = SequenceTagger(bounds=NO_ENDS, random_state=0).fit(X, TAGS)
    save_crfsuite(tagger, path, separator=separator)
    assert theirs(path, X) == to_lists(tagger.predict(X)) == TAGS
    known = {name for name, _ in opened(path).info().state_features}
    expected = {"word:a=b:c", "n", "of:word:é", "s:x", "s:y", "word:d"}
    assert known == (expected if separator else {"word=a", "end", "word=b:c"})
    pipeline = make_pipeline(TokenVectorizer(separator=":"), SequenceTagger(bounds=NO_ENDS))
    if separator:
        save_crfsuite(pipeline.fit(X, TAGS), path)
        assert theirs(path, X) == TAGS


def test_what_is_not_allowed_never_occurs(tmp_path):
    rng = np.random.default_rng(0)
    X = [[{"v": str(rng.integers(3))} for _ in range(5)] for _ in range(40)]
    y = [[str(rng.choice(["B-X", "O"])) for _ in range(5)] for _ in range(40)]
    y[0] = ["B-X", "I-X", "O", "O", "B-X"]
    tagger = SequenceTagger(allowed_transitions="bio", random_state=0).fit(X, y)
    save_crfsuite(tagger, tmp_path / "m")
    given = marked(X)
    assert theirs(tmp_path / "m", given) == to_lists(tagger.predict(X))
    crf = opened(tmp_path / "m")
    crf.set(given[0])
    assert crf.marginal("I-X", 0) == 0.0 and np.isfinite(crf.probability(y[1]))


def test_what_a_file_cannot_hold(tmp_path):
    path, X, y = tmp_path / "model", [np.eye(2)] * 3, [["a", "b"]] * 3
    pairs = [(np.eye(2), np.ones((1, 1)))] * 3
    for tagger, data, kind, message in (
        (SequenceTagger(), (X, y), ValueError, "no names of attributes"),
        (SequenceTagger(kernel="rbf"), (X, y), ValueError, "has a kernel"),
        (SequenceTagger(order=2), (X, y), ValueError, "has order=2"),
        (SequenceTagger(n_states_per_label=2), (X, y), ValueError, "hidden states"),
        (SequenceTagger(), (pairs, y), ValueError, "features of edges"),
        (SequenceTagger(), (TOKENS, [[1, 2]] * 3), TypeError, "labels in files of CRFsuite"),
        (SequenceTagger(), (TOKENS, [["a\0b", "b"]] * 3), ValueError, "null character"),
        (TreeTagger(), ([(np.eye(2), [-1, 0])] * 3, y), TypeError, "not a TreeTagger"),
    ):
        with pytest.raises(kind, match=message):
            save_crfsuite(tagger.fit(*data), path)
    assert not path.exists()
    twice = [[["a=b", "a:b"], ["c"]]] * 3
    with pytest.raises(ValueError, match="two attributes would have one name"):
        save_crfsuite(SequenceTagger().fit(twice, y), path)


def test_the_bytes(data, tmp_path):
    # Jenkins' own values of lookup3 with an initial value of zero
    assert hashes([b"Four score and seven years ago"]).tolist() == [0x17770551]
    rng = np.random.default_rng(0)
    for n_labels, n_attributes in ((2, 1), (3, 700)):
        labels = [f"L{k}" for k in range(n_labels)]
        attributes = ["x" * int(rng.integers(40)) + str(k) for k in range(n_attributes)]
        features = np.empty(60, dtype=FEATURE)
        features["kind"] = rng.integers(2, size=60)
        limit = np.where(features["kind"] == 0, n_attributes, n_labels)
        features["source"] = rng.integers(limit)
        features["target"] = rng.integers(n_labels, size=60)
        features["weight"] = rng.normal(size=60)
        data = write_model(labels, attributes, features)
        found = read_model(data)
        assert found[:2] == (labels, attributes) and (found[2] == features).all()
        path = tmp_path / "damaged"
        for k in range(200):  # what is damaged is refused, or has other numbers
            broken = bytearray(data)
            broken[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
            path.write_bytes(broken[: len(data) if k % 2 else int(rng.integers(len(data)))])
            try:
                load_crfsuite(path)
            except ValueError as error:
                assert str(error).startswith(str(path))
    for text, message in ((b"", "too short"), (b"x" * 60, "begins with lCRF")):
        path.write_bytes(text)
        with pytest.raises(ValueError, match=message):
            load_crfsuite(path)
    features = np.zeros(1, dtype=FEATURE)
    path.write_bytes(write_model(["a"], ["b"], features))
    with pytest.raises(ValueError, match="1 labels and 1 attributes"):
        load_crfsuite(path)
    header = struct.unpack_from("<4sI4sI", write_model(["a", "b"], ["b"], features))
    assert header[0] == b"lCRF" and header[2:] == (b"FOMC", 100)
