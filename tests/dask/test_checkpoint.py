"""Checkpoints are complete, wherever they are: in folders, or on file systems of fsspec."""

import fsspec
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings

pytest.importorskip("dask")

from sskit.dask import Distributed  # noqa: E402
from sskit.dask._checkpoint import Checkpoint  # noqa: E402

X, Y = make_digit_strings(30, random_state=0)
PARTS = [X[:10], X[10:20], X[20:]], [Y[:10], Y[10:20], Y[20:]]


@pytest.fixture(params=["path", "file://", "memory://"])
def folder(request, tmp_path):
    """A folder as users give it, and where fsspec finds it."""
    if request.param == "path":
        yield tmp_path / "kept"
        return
    yield f"{request.param}{tmp_path}/kept"
    fsspec.filesystem("memory").store.clear()


def test_a_fit_goes_on_from_any_file_system(folder):
    model = Distributed(SequenceTagger(random_state=0, max_iter=4), checkpoint=folder)
    model.set_params(checkpoint_every=2)
    with pytest.warns(ConvergenceWarning):
        model.fit(*PARTS)
    reached = model.estimator_.dual_objective_
    files, place = fsspec.core.url_to_fs(str(folder))
    assert [name.rsplit("/", 1)[1] for name in files.ls(place, detail=False)] == ["checkpoint"]
    again = clone(model).set_params(estimator__max_iter=1000).fit(*PARTS)
    assert again.history_["dual"][0] >= reached - 1e-12
    assert again.estimator_.certified_


def test_an_unfinished_file_changes_nothing(folder):
    store = Checkpoint(folder)
    assert store.load() == {}
    store.save({})
    files, place = fsspec.core.url_to_fs(str(folder))
    files.pipe_file(f"{place}/checkpoint.unfinished", b"half")
    assert store.load() == {}
    store.save({})
    assert store.load() == {}


def test_unknown_file_systems_are_named():
    model = Distributed(SequenceTagger(random_state=0), checkpoint="nosuch://a/b")
    with pytest.raises(ValueError, match="^checkpoint='nosuch://a/b': Protocol not known"):
        model.fit(*PARTS)
    assert not hasattr(model, "estimator_")
