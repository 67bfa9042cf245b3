"""Simulated glyphs are what their documentation says."""

import numpy as np
import pytest

from sskit.datasets import make_glyph_sentences


def test_shapes_and_lengths():
    X, y = make_glyph_sentences(
        200, n_characters=50, n_features=7, min_length=2, max_length=4, random_state=0
    )
    assert {len(labels) for labels in y} == {2, 3, 4}
    assert all(x.shape == (len(labels), 8) for x, labels in zip(X, y, strict=True))
    assert all((x[:, -1] == 1).all() for x in X)
    assert y[0].dtype == np.int64
    assert 0 <= np.concatenate(y).min() <= np.concatenate(y).max() < 50


def test_seed_decides():
    first, again, other = (
        np.concatenate(make_glyph_sentences(5, random_state=seed)[0]) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_glyphs_are_prototypes_with_noise():
    prototypes = np.arange(12.0).reshape(4, 3)
    X, y = make_glyph_sentences(
        300, n_characters=4, noise=0.5, prototypes=prototypes, random_state=0
    )
    noise = np.concatenate(X)[:, :-1] - prototypes[np.concatenate(y)]
    assert abs(noise.mean()) < 0.02
    assert noise.std() == pytest.approx(0.5, rel=0.02)
    X, y = make_glyph_sentences(3, n_characters=4, noise=0, prototypes=prototypes)
    np.testing.assert_array_equal(np.concatenate(X)[:, :-1], prototypes[np.concatenate(y)])


def test_few_characters_are_frequent_and_neighbours_matter():
    _, y = make_glyph_sentences(2000, n_characters=200, n_features=1, random_state=0)
    flat = np.concatenate(y)
    assert (flat == 0).mean() > 0.04
    pairs = np.concatenate([labels[:-1] * 200 + labels[1:] for labels in y])
    counts = np.sort(np.bincount(pairs, minlength=200**2))[::-1]
    # five followers of each
    assert counts[:1000].sum() > 0.6 * counts.sum()


def test_a_given_text_is_kept():
    text = ["abba", "cab"]
    X, y = make_glyph_sentences(text=text, n_features=2, noise=0.0, random_state=0)
    assert ["".join(labels) for labels in y] == text
    np.testing.assert_array_equal(X[0][0], X[1][1])
    _, y = make_glyph_sentences(text=[[3, 1], [2]], random_state=0)
    assert [labels.tolist() for labels in y] == [[3, 1], [2]]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_samples": 0}, "^n_samples must be a positive integer"),
        ({"n_characters": 0}, "^n_characters must be a positive integer"),
        ({"noise": -1.0}, "^noise must be a finite number >= 0"),
        ({"min_length": 5, "max_length": 4}, "^min_length is 5 but max_length is 4"),
        ({"text": []}, "^text has no sentences"),
        ({"text": ["a", ""]}, r"^text\[1\] is empty"),
        ({"text": ["abc"], "prototypes": np.zeros((2, 3))}, r"each of 3 characters.*\(2, 3\)"),
        ({"prototypes": np.zeros(3)}, r"shape \(3,\)"),
    ],
)
def test_bad_numbers(options, match):
    with pytest.raises(ValueError, match=match):
        make_glyph_sentences(**options)
