"""Scalers that get rows a block at a time."""

import tracemalloc

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from sskit.preprocessing import TokenTransformer
from sskit.preprocessing._row_blocks import fit_in_blocks, goes_in_blocks, transform_in_blocks
from sskit.utils import RaggedArray


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), MaxAbsScaler()])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_blocks_are_one_matrix(scaler, dtype):
    rng = np.random.default_rng(0)
    X = (3 * rng.normal(size=(30_000, 60)) + rng.normal(size=60)).astype(dtype)
    X[7, 3] = np.nan
    whole = scaler.fit(X.astype(np.float64)).transform(X.astype(np.float64))
    known = {name: value for name, value in vars(scaler).items() if name.endswith("_")}
    found = transform_in_blocks(fit_in_blocks(type(scaler)(), X), X)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, whole.astype(dtype), rtol=1e-3 if dtype == "f2" else 1e-6)
    fitted = vars(fit_in_blocks(type(scaler)(), X))
    for name, value in known.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(fitted[name], value, rtol=1e-9)


def test_what_goes_in_blocks():
    large, small = np.zeros((2**13, 2**10)), np.zeros((3, 2))
    assert goes_in_blocks(StandardScaler(), large)
    assert not goes_in_blocks(StandardScaler(), small)
    assert goes_in_blocks(StandardScaler(), small.astype(np.float32))
    assert not goes_in_blocks(StandardScaler(), small.astype(int))
    assert not goes_in_blocks(object(), large)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_scaler_makes_one_copy_of_the_same_type(dtype, tmp_path):
    X = np.random.default_rng(0).normal(size=(40_000, 250)).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    tokens = RaggedArray(np.load(tmp_path / "X.npy", mmap_mode="r"), [0, 10_000, 40_000])
    for call in ("fit", "fit_transform"):
        transformer = TokenTransformer(StandardScaler())
        tracemalloc.start()
        try:
            result = getattr(transformer, call)(tokens)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < 20e6 + (X.nbytes if call == "fit_transform" else 0)
    assert result.values.dtype == dtype
    np.testing.assert_allclose(result.values.astype(float).std(axis=0), 1.0, atol=1e-2)
    again = transformer.transform(tokens)
    np.testing.assert_array_equal(again.values, result.values)
    alone = transformer.transform([tokens[0]]).values
    np.testing.assert_array_equal(alone, result.values[:10_000])
