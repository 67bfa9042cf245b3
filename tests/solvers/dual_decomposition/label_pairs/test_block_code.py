"""What a block of labels and links is between visits: a string of bytes."""

import numpy as np
import pytest

from sskit.solvers.dual_decomposition.label_pairs.block_code import copied_block


def rounded(value):
    """Single precision, and zero where there is next to nothing."""
    value = np.asarray(value, dtype=float)
    return np.where(np.abs(value) > 1e-14, value.astype(np.float32), 0.0)


def random_block(rng, n_labels, n_links, n_edges):
    """A block with every kind of label and link."""
    truth, level = rng.integers(0, 2, size=(2, n_labels)).astype(np.uint8)
    shares = rng.choice([0.0, 1.0, 2.0, 1e-12, 1e-16, 1.0 - 1e-9], size=n_labels)
    shares = np.where(shares == 2.0, rng.random(n_labels), shares)
    edges = rng.choice(n_edges, size=n_links, replace=False)
    numbers = rng.normal(size=(3, n_links)) * rng.integers(0, 2, size=(3, n_links))
    numbers[2] = np.where(rng.random(n_links) < 0.3, numbers[1], numbers[2])
    numbers[0, rng.random(n_links) < 0.1] = 1e-16
    return truth, shares, level, list(zip(edges.tolist(), *numbers.tolist(), strict=True))


def check(block):
    truth, shares, level, links = block
    y, levels, found = copied_block(truth, shares, level, links)
    np.testing.assert_array_equal(levels, level)
    assert (y <= shares).all()
    np.testing.assert_allclose(y, shares, rtol=2e-7, atol=1e-14)
    assert (y.astype(np.float32) == y).all()
    assert (y[np.isin(shares, [0.0, 1.0])] == shares[np.isin(shares, [0.0, 1.0])]).all()
    expected = [(e, *rounded(numbers).tolist()) for e, *numbers in sorted(links)]
    assert found == expected


@pytest.mark.parametrize("n_labels", [1, 2, 9, 300])
@pytest.mark.parametrize(("n_links", "n_edges"), [(0, 1), (7, 7), (200, 260), (900, 10**6)])
def test_blocks_are_read_as_they_were_written(n_labels, n_links, n_edges):
    rng = np.random.default_rng(n_labels + n_links)
    for _ in range(5):
        check(random_block(rng, n_labels, n_links, n_edges))


def test_edges_far_apart():
    """As many bytes count the edges passed over as are needed."""
    edges = [0, 8, 17, 2**10 + 18, 2**17, 2**24 + 5, 2**31 - 1]
    links = [(e, 0.5, 0.25, -0.5) for e in edges]
    check((np.zeros(2), np.array([0.0, 0.5]), np.ones(2), links))
    for e in edges:
        check((np.zeros(1), np.zeros(1), np.zeros(1), [(e, 0.0, 0.0, 1.0)]))


def test_bad_sizes():
    with pytest.raises(ValueError, match="shares"):
        copied_block([0], [0.0, 0.5], [0], [])
