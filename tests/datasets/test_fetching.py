"""Files are fetched once, from a server, and are those of the data set or an error."""

import gzip
import hashlib
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sskit.datasets import _fetching, fetch_conll2000, load_conll

TEXT = "The DT B-NP\ncat NN I-NP\n\nStop VB B-VP\n"
X = [[{"word": "The", "pos": "DT"}, {"word": "cat", "pos": "NN"}], [{"word": "Stop", "pos": "VB"}]]
Y = [["B-NP", "I-NP"], ["B-VP"]]


class Handler(SimpleHTTPRequestHandler):
    asked = []

    def log_message(self, *args):
        self.asked.append(self.path)


@pytest.fixture
def serve():
    """Serve a folder on this machine; give its address, and what was asked for."""
    servers = []

    def start(folder):
        handler = type("Own", (Handler,), {"asked": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}", handler.asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with the files of a small data set."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name in _fetching.SHA256:
        (folder / name).write_bytes(gzip.compress(TEXT.encode()))
        monkeypatch.setitem(_fetching.SHA256, name, hashlib.sha256(TEXT.encode()).hexdigest())
    return folder


@pytest.mark.parametrize("subset", ["train", "test"])
def test_a_file_is_fetched_once(subset, site, serve, tmp_path, capfd):
    url, asked = serve(site)
    for end in ("", "/"):
        assert fetch_conll2000(subset, data_home=tmp_path, url=url + end) == (X, Y)
    assert asked == [f"/{subset}.txt.gz"]
    assert capfd.readouterr() == ("", "")
    # what is there needs neither a server nor pooch
    assert fetch_conll2000(subset, data_home=str(tmp_path), url="http://127.0.0.1:1") == (X, Y)


def test_by_default_it_is_kept_among_the_caches_of_the_user(site, serve, tmp_path, monkeypatch):
    import pooch

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    fetch_conll2000(url=serve(site)[0])
    assert (tmp_path / "sskit" / "conll2000" / "train.txt.gz").exists()


def test_what_is_not_the_file_is_named_and_not_kept(site, serve, tmp_path):
    url, _ = serve(site)
    kept = tmp_path / "conll2000" / "train.txt.gz"
    for wrong in (b"no gzip", gzip.compress(b"other text"), gzip.compress(TEXT.encode())[:-9]):
        (site / "train.txt.gz").write_bytes(wrong)
        with pytest.raises(OSError, match=rf"^{url}/train\.txt\.gz is not the file of the data"):
            fetch_conll2000(data_home=tmp_path, url=url)
        assert not kept.exists()
        kept.write_bytes(wrong)
        with pytest.raises(OSError, match=r"train\.txt\.gz is not the file .*: remove it to fetch"):
            fetch_conll2000(data_home=tmp_path, url=url)
        assert kept.read_bytes() == wrong  # the user's
        kept.unlink()
    (site / "train.txt.gz").unlink()
    for address in (url, "http://127.0.0.1:1", "nowhere"):
        message = rf"^{address}/train\.txt\.gz cannot be fetched: .*; a copy by hand is read at .*"
        with pytest.raises(OSError, match=message):
            fetch_conll2000(data_home=tmp_path, url=address)
    assert not kept.exists()
    with pytest.raises(ValueError, match='subset must be "train" or "test", got \'dev\''):
        fetch_conll2000("dev")


def test_without_pooch_its_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    for data_home in (None, tmp_path):
        with pytest.raises(ImportError, match=r"this needs pooch, .* the extra 'text'"):
            fetch_conll2000(data_home=data_home)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("subset", "n", "n_tokens"), [("train", 8936, 211727), ("test", 2012, 47377)]
)
def test_the_data_set_is_the_published_one(subset, n, n_tokens, serve, tmp_path):
    from helpers.real_data import HOME

    url, _ = serve(HOME / "conll2000")
    X, y = fetch_conll2000(subset, data_home=tmp_path, url=url)
    assert (len(X), sum(map(len, X))) == (n, n_tokens)
    path = HOME / "conll2000" / f"{subset}.txt.gz"
    options = {"columns": ["word", "pos", "chunk"], "scheme": "bio", "comments": False}
    assert (X, y) == load_conll(path, **options)
