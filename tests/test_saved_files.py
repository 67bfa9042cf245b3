"""Files of models that earlier versions saved can be read, and give the answers of then.

A release adds its own: ``python tests/test_saved_files.py`` writes tests/saved/VERSION.skops.
"""

import io
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import skops.io

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))
from helpers.saved import MODELS, PATHS, answers  # noqa: E402

import sskit  # noqa: E402

NAMES = [
    "classifier, names", "classifier, components", "classifier, rbf", "ranking, two grades",
    "tagger", "tagger, transitions", "tagger, edges", "tagger, second order",
    "tagger, hidden states", "tagger, rbf", "segments, tags", "trees, kinds", "graphs",
    "graphs, tables", "graphs, any", "sets", "sets, tree",
    "hierarchy, graph", "poses", "poses, names", "stopping", "calibrated",
    "pipeline, vectorizer", "path", "choice",
]  # fmt: skip


def write(path):
    """Write models, what they predict from, and their answers."""
    content = {}
    for name in NAMES:
        estimator, data = (MODELS | PATHS)[name]
        X, y = data()
        model = estimator.fit(X, y)
        content[name] = {"model": model, "X": X, "answers": answers(model, X)}
    path.parent.mkdir(exist_ok=True)
    skops.io.dump(content, path, compression=8, compresslevel=9)


if __name__ == "__main__":
    write(TESTS / "saved" / f"{sskit.__version__}.skops")
    sys.exit()


@pytest.mark.filterwarnings("ignore:Trying to unpickle estimator")  # scikit-learn may be older
@pytest.mark.parametrize("path", sorted(TESTS.glob("saved/*.skops")), ids=lambda path: path.stem)
def test_files_of_earlier_versions(path):
    content = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    assert list(content) == NAMES
    for name, saved in content.items():
        found = answers(saved["model"], saved["X"])
        assert len(found) == len(saved["answers"])
        for one, other in zip(found, saved["answers"], strict=True):
            if np.asarray(one).dtype.kind == "f":
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=name)
            else:
                np.testing.assert_array_equal(one, other, err_msg=name)


def test_files_say_which_version_wrote_them(monkeypatch):
    model = sskit.SequenceTagger(lam=0.1)
    data = pickle.dumps(model)
    assert vars(pickle.loads(data)) == vars(model)
    monkeypatch.setattr(sskit, "__version__", "0.9.7")
    message = "SequenceTagger was saved by sskit .*, which is later than this version, 0.9.7"
    with pytest.warns(UserWarning, match=message):
        pickle.load(io.BytesIO(data))
    monkeypatch.setattr(sskit, "__version__", "1.10.0")
    pickle.loads(data)
