"""Made data keeps its promises; loaded data has the published sizes."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from sskit.datasets import (
    get_data_home,
    load_conll2000,
    load_ocr_letters,
    load_usps,
    load_wsj_pos,
    make_chains,
    make_digit_strings,
    make_multiclass,
)
from sskit.datasets._loaders import _attributes

needs_files = [
    pytest.mark.realdata,
    pytest.mark.skipif(not os.environ.get("SSKIT_DATA"), reason="SSKIT_DATA is not set"),
]


def realdata(test):
    for mark in needs_files:
        test = mark(test)
    return test


# ------------------------------------------------------------------------------ makers


MAKERS = [make_chains, make_multiclass, make_digit_strings]


@pytest.mark.parametrize("make", MAKERS)
def test_seed_decides(make):
    flat = [np.vstack(make(20, random_state=seed)[0]) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(flat[0], flat[1])
    assert flat[0].shape != flat[2].shape or not np.array_equal(flat[0], flat[2])
    make(2, random_state=np.random.RandomState(0))
    make(2)


def test_chains_have_the_shapes_asked_for():
    X, y = make_chains(200, n_features=4, n_states=5, min_length=2, max_length=6, random_state=0)
    assert isinstance(X, list)
    assert isinstance(y, list)
    lengths = np.array([len(x) for x in X])
    assert lengths.tolist() == [len(labels) for labels in y]
    assert set(lengths.tolist()) == {2, 3, 4, 5, 6}
    assert all(x.shape[1] == 4 and x.dtype == np.float64 for x in X)
    assert all(labels.dtype == np.int64 for labels in y)
    assert set(np.concatenate(y).tolist()) == {0, 1, 2, 3, 4}
    assert X[0].base is None


def test_sparse_chains_are_the_dense_ones():
    options = {"density": 0.2, "n_features": 50, "random_state": 0}
    dense, y = make_chains(10, **options)
    sparse, labels = make_chains(10, sparse=True, **options)
    for a, b, c, d in zip(dense, sparse, y, labels, strict=True):
        assert sp.issparse(b)
        assert b.format == "csr"
        np.testing.assert_array_equal(a, b.toarray())
        np.testing.assert_array_equal(c, d)
    assert np.vstack(dense).astype(bool).mean() == pytest.approx(0.2, abs=0.05)


def test_noise_is_noise():
    def score(noise):
        X, y = make_chains(300, noise=noise, random_state=0)
        X, y = np.concatenate(X), np.concatenate(y)
        return LogisticRegression(max_iter=1000).fit(X, y).score(X, y)

    assert score(0.0) == 1
    assert score(0.0) > score(2.0) > score(10.0)


def test_chains_of_one_state():
    _, y = make_chains(3, n_states=1, n_features=1, min_length=1, max_length=1, random_state=0)
    assert [labels.tolist() for labels in y] == [[0]] * 3


@pytest.mark.parametrize(("n_features", "n_classes"), [(2, 3), (50, 3), (20, 40), (1, 2)])
def test_multiclass_separation_does_not_depend_on_the_size(n_features, n_classes):
    X, y = make_multiclass(
        400 * n_classes,
        n_features=n_features,
        n_classes=n_classes,
        separation=6.0,
        random_state=0,
    )
    assert np.bincount(y).tolist() == [400] * n_classes
    centers = np.array([X[y == k].mean(axis=0) for k in range(n_classes)])
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert distances.min(axis=1).mean() == pytest.approx(6, rel=0.05)
    assert (X - centers[y]).std() == pytest.approx(1, rel=0.05)


def test_multiclass_of_one_class():
    assert make_multiclass(5, n_classes=1)[1].tolist() == [0] * 5


@pytest.mark.parametrize("order", [0, 1, 2])
def test_digit_language(order):
    _, y, transitions = make_digit_strings(
        3000, min_length=3, max_length=8, order=order, return_transitions=True, random_state=0
    )
    assert transitions.shape == (10,) * (order + 1)
    np.testing.assert_allclose(transitions.sum(axis=-1), 1)
    np.testing.assert_allclose(np.bincount(np.concatenate(y)) / sum(map(len, y)), 0.1, atol=0.01)
    counts = np.zeros_like(transitions)
    for labels in y:
        for t in range(order, len(labels)):
            counts[tuple(labels[t - order : t + 1])] += 1
    seen = counts.sum(axis=-1, keepdims=True)
    found = counts / np.maximum(seen, 1)
    assert found[transitions == 0].sum() == 0
    np.testing.assert_allclose(found, transitions, atol=4 / np.sqrt(seen.min()))


def test_digit_images():
    X, y = make_digit_strings(200, random_state=0)
    images, digits = load_digits(return_X_y=True)
    of = {image.tobytes(): digit for image, digit in zip(images, digits, strict=True)}
    for x, labels in zip(X, y, strict=True):
        assert x.shape == (len(labels), 65)
        assert 4 <= len(labels) <= 8
        assert (x[:, 64] == 1).all()
        assert [of[(row[:64] * 16).tobytes()] for row in x] == labels.tolist()


def test_train_and_test_share_no_image():
    train, test, both = (
        {row.tobytes() for x in make_digit_strings(3000, subset=s, random_state=0)[0] for row in x}
        for s in ("train", "test", None)
    )
    assert not train & test
    assert both & train
    assert both & test


def test_made_data_may_be_written_to():
    X, _ = make_digit_strings(50, random_state=0)
    for x in X:
        x[:] = -1
    again, _ = make_digit_strings(50, random_state=0)
    assert min(x.min() for x in again) == 0


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (make_chains, {"n_samples": 0}, "n_samples must be a positive integer, got 0"),
        (make_chains, {"n_samples": 2.0}, "n_samples must be a positive integer, got 2.0"),
        (make_chains, {"n_features": -1}, "n_features must be a positive integer"),
        (make_chains, {"n_states": True}, "n_states must be a positive integer"),
        (make_chains, {"min_length": 0}, "min_length must be a positive integer"),
        (make_chains, {"min_length": 11}, "min_length is 11 but max_length is 10"),
        (make_chains, {"noise": -1}, "noise must be a finite number >= 0"),
        (make_chains, {"noise": np.nan}, "noise must be a finite number >= 0"),
        (make_chains, {"density": 0}, "density must be in"),
        (make_chains, {"density": 1.5}, "density must be in"),
        (make_multiclass, {"n_samples": 0}, "n_samples must be a positive integer"),
        (make_multiclass, {"n_classes": 0}, "n_classes must be a positive integer"),
        (make_multiclass, {"separation": -1}, "separation must be a finite number"),
        (make_digit_strings, {"n_samples": -1}, "n_samples must be a positive integer"),
        (make_digit_strings, {"max_length": 3}, "min_length is 4 but max_length is 3"),
        (make_digit_strings, {"order": 3}, "order must be 0, 1 or 2, got 3"),
        (make_digit_strings, {"subset": "all"}, "subset must be 'train', 'test' or None"),
    ],
)
def test_bad_options(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


# ------------------------------------------------------------------------------ loaders


LOADERS = [load_conll2000, load_ocr_letters, load_usps, load_wsj_pos]


def test_data_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SSKIT_DATA", str(tmp_path))
    assert get_data_home() == tmp_path
    assert get_data_home(tmp_path / "other") == tmp_path / "other"
    assert get_data_home(str(tmp_path)) == tmp_path
    assert get_data_home("~").is_absolute()
    for unset in (
        lambda: monkeypatch.setenv("SSKIT_DATA", ""),
        lambda: monkeypatch.delenv("SSKIT_DATA"),
    ):
        unset()
        assert get_data_home().is_absolute()
        assert "sskit" in get_data_home().parts


@pytest.mark.parametrize("load", LOADERS)
def test_missing_file(load, monkeypatch, tmp_path):
    message = r"(?s)\w+/[\w.]+ was not found in .*SSKIT_DATA.*data_home.*Source of the data set: "
    with pytest.raises(FileNotFoundError, match=message) as caught:
        load(data_home=tmp_path)
    assert str(tmp_path) in str(caught.value)
    monkeypatch.setenv("SSKIT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load()


@pytest.mark.parametrize("load", [load_conll2000, load_usps, load_wsj_pos])
def test_bad_subset(load, tmp_path):
    with pytest.raises(ValueError, match="subset must be 'train' or 'test', got 'dev'"):
        load("dev", data_home=tmp_path)


@pytest.mark.parametrize("fold", [10, -1, "0", [0, 11], True, 0.5])
def test_bad_fold(fold, tmp_path):
    with pytest.raises(ValueError, match="fold must be among 0, ..., 9"):
        load_ocr_letters(fold, data_home=tmp_path)


def test_attributes_of_a_short_sentence():
    first, second = _attributes([("He", "PRP"), ("ran", "VBD")])
    assert first == {
        "w[0]": "He",
        "w[1]": "ran",
        "w[0]|w[1]": "He|ran",
        "p[0]": "PRP",
        "p[1]": "VBD",
        "p[0]|p[1]": "PRP|VBD",
        "__BOS__": 1,
    }
    assert second == {
        "w[-1]": "He",
        "w[0]": "ran",
        "w[-1]|w[0]": "He|ran",
        "p[-1]": "PRP",
        "p[0]": "VBD",
        "p[-1]|p[0]": "PRP|VBD",
        "__EOS__": 1,
    }
    (only,) = _attributes([("Go", "VB")])
    assert only == {"w[0]": "Go", "p[0]": "VB", "__BOS__": 1, "__EOS__": 1}


def test_attributes_inside_a_sentence():
    sentence = [(f"w{t}", f"p{t}") for t in range(7)]
    token = _attributes(sentence)[3]
    assert len(token) == 5 + 2 + 5 + 4 + 3
    assert token["w[-2]"] == "w1"
    assert token["w[2]"] == "w5"
    assert token["w[-1]|w[0]"] == "w2|w3"
    assert token["p[-2]|p[-1]"] == "p1|p2"
    assert token["p[1]|p[2]"] == "p4|p5"
    assert token["p[-2]|p[-1]|p[0]"] == "p1|p2|p3"
    assert token["p[0]|p[1]|p[2]"] == "p3|p4|p5"


@realdata
def test_ocr():
    words = load_ocr_letters()
    assert len(words.data) == len(words.target) == 6877
    assert sum(map(len, words.data)) == sum(map(len, words.target)) == 52152
    assert np.bincount(words.folds).tolist() == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert words.data[0].dtype == np.uint8
    assert words.data[0].shape[1] == 128
    assert set(np.concatenate(words.target).tolist()) == set(range(26))
    small = load_ocr_letters(0, constant=True, letters=True)
    assert len(small.data) == 626
    assert small.data[0].dtype == np.float64
    assert small.data[0].shape[1] == 129
    assert (small.data[0][:, 128] == 1).all()
    first = np.flatnonzero(words.folds == 0)[0]
    np.testing.assert_array_equal(small.data[0][:, :128], words.data[first])
    assert small.target[0].tolist() == words.target_names[words.target[first]].tolist()
    assert len(load_ocr_letters(range(1, 10)).data) == 6251


@realdata
@pytest.mark.parametrize(("subset", "sizes"), [("train", (8936, 211727)), ("test", (2012, 47377))])
def test_conll2000(subset, sizes):
    sentences = load_conll2000(subset)
    assert (len(sentences.data), sum(map(len, sentences.data))) == sizes
    assert [len(s) for s in sentences.data] == [len(t) for t in sentences.target]
    labels = {label for sentence in sentences.target for label in sentence}
    assert len(labels) == {"train": 22, "test": 19}[subset]


@realdata
def test_conll2000_attributes():
    sentences = load_conll2000("train", attributes=True)
    attributes, n_values = set(), 0
    for sentence in sentences.data:
        for token in sentence:
            attributes.update(token.items())
            n_values += len(token)
    assert len(attributes) == 335_674
    assert n_values == 3_808_439
    assert "__BOS__" in sentences.data[0][0]
    assert "__EOS__" in sentences.data[0][-1]


@realdata
@pytest.mark.parametrize(("subset", "sizes"), [("train", (3253, 78375)), ("test", (661, 15709))])
def test_wsj_pos(subset, sizes):
    sentences = load_wsj_pos(subset)
    assert (len(sentences.data), sum(map(len, sentences.data))) == sizes
    assert [len(s) for s in sentences.data] == [len(t) for t in sentences.target]
    assert all(isinstance(word, str) for word in sentences.data[0])


@realdata
def test_usps():
    train, test = load_usps("train"), load_usps("test")
    assert train.data.shape == (7291, 256)
    assert test.data.shape == (2007, 256)
    assert np.bincount(train.target)[:3].tolist() == [1194, 1005, 731]
    assert (train.data.min(), train.data.max()) == (-1, 1)
