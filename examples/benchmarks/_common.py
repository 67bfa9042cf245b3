"""Data and measuring tools that the benchmark scripts share."""

import os
import statistics
import time

import numpy as np
from sklearn.feature_extraction import DictVectorizer

from sskit.datasets import load_conll2000, load_ocr_letters
from sskit.preprocessing import TokenTransformer

os.environ.setdefault("OMP_NUM_THREADS", "1")


def ocr(size):
    """Return (X, y, X_test, y_test) of OCR letters.

    Features are 128 pixels and a constant. "small" trains on fold 0 (626 words) and tests on
    the other nine (6,251 words), "large" the other way round.
    """
    data = load_ocr_letters(constant=True)
    first = np.asarray(data.folds) == 0
    halves = [
        ([data.data[i] for i in np.flatnonzero(m)], [data.target[i] for i in np.flatnonzero(m)])
        for m in (first, ~first)
    ]
    train, test = halves if size == "small" else halves[::-1]
    return *train, *test


def conll():
    """Return (X, y, X_test, y_test) of CoNLL-2000 chunking with all 335,674 attributes."""
    train = load_conll2000(subset="train", attributes=True)
    test = load_conll2000(subset="test", attributes=True)
    vectorizer = TokenTransformer(DictVectorizer())
    X = vectorizer.fit_transform(train.data)
    return X, train.target, vectorizer.transform(test.data), test.target


def median_time(function, repeats=5):
    """Return the median wall time of calling `function`, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
