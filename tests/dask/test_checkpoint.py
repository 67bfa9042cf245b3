"""Checkpoints are complete, wherever they are: in folders, or on file systems of fsspec."""

import threading
import warnings

import fsspec
import pytest
from helpers.objectives import bracket
from helpers.parts import TAGS, TOKENS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger

dask = pytest.importorskip("dask")

from sskit.dask import Distributed  # noqa: E402

TAGGER = SequenceTagger(tol=1e-3, random_state=0)
PLACES = [slice(7), slice(7, 14), slice(14, 20)]
X, Y = ([data[place] for place in PLACES] for data in (TOKENS, TAGS))


@pytest.fixture
def ftp_server(tmp_path):
    """The address of a server on this machine, in a thread of its own, whose files are here."""
    with warnings.catch_warnings():
        # of asyncore, which it takes from Python as long as this has it
        warnings.simplefilter("ignore", DeprecationWarning)
        authorizers = pytest.importorskip("pyftpdlib.authorizers")
        from pyftpdlib.handlers import FTPHandler
        from pyftpdlib.servers import FTPServer

    class Handler(FTPHandler):
        authorizer = authorizers.DummyAuthorizer()

    Handler.authorizer.add_user("user", "word", str(tmp_path), perm="elradfmw")
    server = FTPServer(("127.0.0.1", 0), Handler)
    ended = threading.Event()

    def serve():
        while not ended.is_set():
            server.serve_forever(timeout=0.01, blocking=False)
        server.close_all()

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"ftp://user:word@127.0.0.1:{server.address[1]}"
    ended.set()
    thread.join()


@pytest.fixture(params=["path", "file://", "memory://", "ftp://"])
def folder(request, tmp_path):
    """A folder as users give it."""
    if request.param == "path":
        yield tmp_path / "kept"
    elif request.param == "ftp://":
        yield f"{request.getfixturevalue('ftp_server')}/kept"
    else:
        yield f"{request.param}{tmp_path}/kept"
        fsspec.filesystem("memory").store.clear()


def test_a_fit_goes_on_from_any_file_system(folder):
    model = Distributed(TAGGER, checkpoint=folder, checkpoint_every=2)
    with pytest.warns(ConvergenceWarning):
        begun = clone(model).set_params(estimator__max_iter=3).fit(X, Y)
    files, place = fsspec.core.url_to_fs(str(folder))
    assert [name.split("/")[-1] for name in files.ls(place, detail=False)] == ["checkpoint"]
    # an unfinished file changes nothing
    files.pipe_file(f"{place}/checkpoint.unfinished", b"half")
    n_loads = [0]

    def load(x):
        n_loads[0] += 1
        if n_loads[0] == 40:
            raise EOFError("gone")
        return x

    parts = [dask.delayed(load, pure=False)(x) for x in X]
    with pytest.raises(RuntimeError, match="^part [012]: EOFError: gone$"):
        model.fit(parts, Y)
    assert not hasattr(model, "estimator_")
    model.fit(parts, Y)
    assert model.history_["dual"][0] >= begun.estimator_.dual_objective_ - 1e-12
    bracket(model.estimator_, clone(TAGGER).fit(TOKENS, TAGS))
    other = [X[0], X[1], [2.0 * x for x in X[2]]]
    for changed, given, number, message in [
        ({"estimator__loss": "hamming"}, X, 0, r", because the loss of y\[0\] changed"),
        ({"estimator__rescaling": "slack"}, X, 0, ", because .* changed"),
        ({}, other, 2, "kept is of other data or "),
    ]:
        with pytest.raises(ValueError, match=f"^part {number}: the checkpoint in .*{message}"):
            clone(model).set_params(**changed).fit(given, Y)


def test_unknown_file_systems_are_named():
    model = Distributed(TAGGER, checkpoint="nosuch://a/b")
    with pytest.raises(ValueError, match="^checkpoint='nosuch://a/b': Protocol not known"):
        model.fit(X, Y)
    assert not hasattr(model, "estimator_")
