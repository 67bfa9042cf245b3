"""Made data keeps its promises."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from sskit.datasets import make_chains, make_digit_strings


def test_seed_decides():
    for make in (make_chains, make_digit_strings):
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
    _, y = make_chains(3, n_states=1, n_features=1, min_length=1, max_length=1, random_state=0)
    assert [labels.tolist() for labels in y] == [[0]] * 3


def test_noise_is_noise():
    def score(noise):
        X, y = make_chains(300, noise=noise, random_state=0)
        X, y = np.concatenate(X), np.concatenate(y)
        return LogisticRegression(max_iter=1000).fit(X, y).score(X, y)

    assert score(0.0) == 1
    assert score(0.0) > score(2.0) > score(10.0)


def test_digit_language():
    _, y, transitions = make_digit_strings(
        3000, min_length=3, max_length=8, return_transitions=True, random_state=0
    )
    assert transitions.shape == (10, 10)
    np.testing.assert_allclose(transitions.sum(axis=1), 1)
    np.testing.assert_allclose(np.bincount(np.concatenate(y)) / sum(map(len, y)), 0.1, atol=0.01)
    counts = np.zeros_like(transitions)
    for labels in y:
        np.add.at(counts, (labels[:-1], labels[1:]), 1)
    seen = counts.sum(axis=1, keepdims=True)
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


def test_bad_options():
    for make, options, message in [
        (make_chains, {"n_samples": 0}, "n_samples must be a positive integer, got 0"),
        (make_chains, {"n_samples": 2.0}, "n_samples must be a positive integer, got 2.0"),
        (make_chains, {"n_features": -1}, "n_features must be a positive integer"),
        (make_chains, {"n_states": True}, "n_states must be a positive integer"),
        (make_chains, {"min_length": 0}, "min_length must be a positive integer"),
        (make_chains, {"min_length": 11}, "min_length is 11 but max_length is 10"),
        (make_chains, {"noise": -1}, "noise must be a finite number >= 0"),
        (make_chains, {"noise": np.nan}, "noise must be a finite number >= 0"),
        (make_digit_strings, {"n_samples": -1}, "n_samples must be a positive integer"),
        (make_digit_strings, {"max_length": 3}, "min_length is 4 but max_length is 3"),
        (make_digit_strings, {"subset": "all"}, "subset must be 'train', 'test' or None"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(**options)
