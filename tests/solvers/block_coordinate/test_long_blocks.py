"""Few long sequences: what a block costs grows with its length, not with its square."""

import numpy as np
import pytest
import scipy.sparse as sp
from sskit_probes.core_probe import DualProbe, planes_of
from threadpoolctl import threadpool_limits

from sskit import SequenceTagger
from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.models.chain.model import ChainModel
from sskit.solvers import BCFW, CuttingPlane
from sskit.testing import check_problem
from sskit.testing.probe import ProblemProbe
from sskit.utils import RaggedArray


def text(n, length, n_labels=5, n_features=3, n_words=200, seed=0):
    """Sequences of sparse features, words of labels and of their neighbours, and labels."""
    rng = np.random.default_rng(seed)
    total = n * length
    labels = np.repeat(rng.integers(n_labels, size=-(-total // 2)), 2)[:total]
    own = labels * (n_words // n_labels) + rng.integers(n_words // n_labels, size=total)
    words = np.where(rng.random(total) < 0.6, own, rng.integers(n_words, size=total))
    columns = np.column_stack([np.roll(words, k) + k * n_words for k in range(n_features)])
    rows = np.ones(columns.size), columns.ravel(), np.arange(total + 1) * n_features
    X = sp.csr_array(rows, shape=(total, n_words * n_features))
    cuts = range(0, total, length)
    return [X[i : i + length] for i in cuts], [labels[i : i + length] for i in cuts]


def bound(X, y, n_labels):
    offsets = np.concatenate([[0], np.cumsum([len(labels) for labels in y])])
    stack = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
    model = ChainModel(X[0].shape[1], n_labels)
    labels, weights = np.concatenate(y), block_weights(len(X))
    return model.bind(RaggedArray(stack, offsets), labels, np.ones(len(labels)), weights)


SHAPES = {
    "long and sparse": {"n": 2, "length": 60, "n_labels": 12},
    # with Gram matrices, which cost more than the entries of most directions
    "many labels": {"n": 2, "length": 30, "n_labels": 100, "n_features": 8},
    "short": {"n": 3, "length": 5, "n_labels": 3, "n_features": 4},
}


@pytest.mark.parametrize("form", ["csr", "dense", "stored zeros"])
@pytest.mark.parametrize("shape", SHAPES)
def test_norms_and_inner_products_are_those_of_the_weights(shape, form):
    """Long sequences go through the features, short ones through Gram matrices.

    Columns of stored zeros make the features seem dear and change nothing else.
    """
    X, y = text(**SHAPES[shape])
    if form != "csr":
        X = [x.toarray()[:, :2] + 0.1 for x in X]
    if form == "stored zeros":
        X = [sp.csr_array(np.hstack([x, np.ones((len(x), 200))])) for x in X]
        for x in X:
            x.data[x.indices >= 2] = 0.0
    for seed in range(3):
        check_problem(bound(X, y, SHAPES[shape]["n_labels"]), random_state=seed)


@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_few_and_of_many_planes_are_those_of_the_weights(shape):
    """Few planes ask for the nodes that they use, many for those of all."""
    problem = bound(*text(**SHAPES[shape]), SHAPES[shape]["n_labels"])
    regularizer = Regularizer(0.01, problem.n_weights)
    run = BCFW(steps="pairwise", averaging=False).start(
        problem, regularizer, np.random.RandomState(0)
    )
    probe, dual = ProblemProbe(problem), DualProbe(problem, run.dual)
    for _ in range(9):
        run.run_pass()
    for i in range(problem.n_blocks):
        codes, gram = planes_of(run.dual, i)[0], dual.gram(i)
        images = np.array([probe.scatter(i, probe.plane(i, code)) for code in codes])
        assert len(codes) > 2 and len(gram) == len(codes) + 1
        np.testing.assert_allclose(gram[1:, 1:], images @ images.T, atol=1e-9)


def test_calls_grow_little_with_the_length():
    """T times the tokens take at most T^1.2 the work: calls of the oracle times their length.

    From 250 tokens to 1,000 calls may double: with the default `lam` of one over the number of
    sequences a longer one is a harder problem. They do so once.
    """
    calls, lengths = [], (250, 1000, 4000)
    for length in lengths:
        X, y = text(1, length, n_words=1000)
        with threadpool_limits(1):
            calls.append(SequenceTagger(random_state=0).fit(X, y).n_oracle_calls_)
    assert min(calls) > 20
    assert max(calls) <= 2 * calls[0]
    for k in range(len(lengths) - 1):
        ratio = lengths[-1] / lengths[k]
        assert calls[-1] * lengths[-1] <= ratio**1.2 * calls[k] * lengths[k]


# (number of sequences, length, labels, features, words): whether they are few and long
SHAPES_OF_AUTO = {
    (1, 100, 5, 1): True,
    (5, 20, 5, 1): True,
    (6, 20, 5, 1): False,  # more than five that are short
    (1, 1000, 10, 2, 3000): True,
    (1, 100, 10, 2, 3000): False,
    (20, 500, 5, 2, 1000): True,
    (20, 500, 5, 2, 10_000): False,  # more than 64 weights for a label
    (21, 500, 5, 2, 2000): True,
    (21, 500, 5, 2, 3000): False,  # more than twenty long ones
    (100, 100, 5, 2, 1000): True,
    (501, 100, 5, 1, 100): False,
}


@pytest.mark.parametrize("shape", SHAPES_OF_AUTO, ids=str)
def test_few_long_sequences_are_for_cutting_planes(shape):
    tagger = SequenceTagger(tol=10.0).fit(*text(*shape))
    assert isinstance(tagger.solver_, CuttingPlane) == SHAPES_OF_AUTO[shape]


def test_steps_of_a_visit_follow_the_length():
    for length, n_steps in (20, 5), (200, 10), (3000, 50):
        problem = bound(*text(6, length), 5)
        assert problem.mean_length() == length
        assert BCFW().resolved(problem).block_steps == n_steps
    assert BCFW().resolved().block_steps == "auto"
