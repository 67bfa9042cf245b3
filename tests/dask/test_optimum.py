"""Optima of real data that were found in parts are certified."""

import numpy as np
import pytest
from helpers.real_data import load_ocr_letters

from sskit import SequenceTagger

pytest.importorskip("dask")

from sskit.dask import Distributed  # noqa: E402

# OCR letters, fold 0, lam = 0.01, Hamming loss: the optimum is between these two, found by an
# independent solver.
PRIMAL, DUAL = 0.16502986, 0.16502974


@pytest.mark.realdata
@pytest.mark.parametrize("n_parts", [1, 2, 4])
def test_the_optimum_of_handwritten_words_is_bracketed(n_parts):
    data = load_ocr_letters(constant=True)
    words = np.array_split(np.flatnonzero(np.asarray(data.folds) == 0), n_parts)
    X, y = ([[column[i] for i in part] for part in words] for column in (data.data, data.target))
    tagger = SequenceTagger(0.01, loss="hamming", tol=1e-3, random_state=0)
    fitted = Distributed(tagger).fit(X, y).estimator_
    assert fitted.certified_
    assert fitted.dual_objective_ <= PRIMAL
    assert fitted.primal_objective_ >= DUAL
    assert fitted.primal_objective_ - fitted.dual_objective_ <= 1.1e-3 * PRIMAL
