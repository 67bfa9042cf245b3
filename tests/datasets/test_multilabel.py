"""Multilabel sets have the published sizes, and say what is wrong where they are asked amiss."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from sskit.datasets import (
    load_bibtex,
    load_delicious,
    load_eisen_fun,
    load_enron,
    load_imclef07a,
    load_rcv1_topics,
    load_yeast,
)

LOADERS = [
    load_yeast, load_bibtex, load_delicious, load_rcv1_topics, load_imclef07a, load_enron,
    load_eisen_fun,
]  # fmt: skip
needs_files = pytest.mark.skipif(not os.environ.get("SSKIT_DATA"), reason="SSKIT_DATA is not set")


@pytest.mark.parametrize("load", LOADERS)
def test_missing_files_and_parts(load, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"npz was not found in .* Source of the data set:"):
        load(data_home=tmp_path)
    with pytest.raises(ValueError, match="subset must be 'train'.* got 'all'"):
        load("all", data_home=tmp_path)


@pytest.mark.parametrize("sample", [2, 0, "1", True, None])
def test_no_such_sample(sample, tmp_path):
    with pytest.raises(ValueError, match=f"sample must be 1, 3, 4 or 5, got {sample!r}"):
        load_rcv1_topics(sample=sample, data_home=tmp_path)


def test_sparse_features_fit_liblinear(tmp_path):
    X = sp.csr_array(np.eye(4, 3))
    (tmp_path / "bibtex").mkdir()
    np.savez(
        tmp_path / "bibtex" / "bibtex.npz",
        X_train_data=X.data, X_train_indices=X.indices.astype(np.int64),
        X_train_indptr=X.indptr.astype(np.int64), X_train_shape=X.shape,
        Y_train=np.eye(4, 2, dtype=np.uint8), label_names=np.array(["a", "b"]),
    )  # fmt: skip
    entries = load_bibtex(data_home=tmp_path)
    LinearSVC().fit(entries.data, entries.target[:, 0])
    assert (entries.data != X).nnz == 0


@needs_files
@pytest.mark.realdata
@pytest.mark.parametrize(
    "load, subset, shape, n_labels, cardinality",
    [
        (load_yeast, "train", (1500, 103), 14, 4.23),
        (load_yeast, "test", (917, 103), 14, 4.25),
        (load_bibtex, "train", (4880, 1836), 159, 2.38),
        (load_bibtex, "test", (2515, 1836), 159, 2.44),
        (load_delicious, "train", (12920, 500), 983, 19.05),
        (load_delicious, "test", (3185, 500), 983, 18.91),
        (load_imclef07a, "train", (10000, 80), 96, 3.0),
        (load_imclef07a, "test", (1006, 80), 96, 3.0),
        (load_enron, "train", (988, 1001), 56, 5.1),
        (load_enron, "test", (660, 1001), 56, 5.6),
        (load_eisen_fun, "train", (1058, 79), 461, 9.2),
        (load_eisen_fun, "valid", (529, 79), 461, 9.06),
        (load_eisen_fun, "test", (837, 79), 461, 9.3),
    ],
)
def test_published_sizes(load, subset, shape, n_labels, cardinality):
    loaded = load(subset)
    assert loaded.data.shape == shape
    assert loaded.data.dtype == np.float64
    assert loaded.target.shape == (shape[0], n_labels)
    assert loaded.target.dtype == np.int64
    assert set(np.unique(loaded.target)) == {0, 1}
    assert loaded.target.sum(axis=1).mean() == pytest.approx(cardinality, abs=0.06)
    assert len(set(loaded.target_names.tolist())) == n_labels
    assert loaded.DESCR


@needs_files
@pytest.mark.realdata
@pytest.mark.parametrize("sample", [1, 3, 4, 5])
@pytest.mark.parametrize("subset", ["train", "test"])
def test_articles_have_norm_one(subset, sample):
    articles = load_rcv1_topics(subset, sample=sample)
    assert sp.issparse(articles.data)
    assert articles.data.shape == (3000, 47236)
    assert articles.data.indices.dtype == articles.data.indptr.dtype
    np.testing.assert_allclose(articles.data.power(2).sum(axis=1), 1, rtol=1e-4)
    assert articles.target.shape == (3000, 101)
    assert 2.85 < articles.target.sum(axis=1).mean() < 2.95


@needs_files
@pytest.mark.realdata
@pytest.mark.parametrize("load, depth", [(load_imclef07a, 3), (load_enron, 3), (load_eisen_fun, 6)])
def test_labels_are_closed_under_parents(load, depth):
    loaded = load("train")
    child = np.flatnonzero(loaded.parents >= 0)
    assert (loaded.parents[child] < child).all()
    assert (loaded.target[:, child] <= loaded.target[:, loaded.parents[child]]).all()
    assert max(name.count("/") for name in loaded.target_names.tolist()) == depth - 1
    assert np.isnan(loaded.data).any() == (load is load_eisen_fun)
