"""The checker of the built site finds what is broken, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "check_links.py"
ADDRESS = "https://docs.example/stable"


@pytest.fixture(scope="module")
def checker():
    spec = importlib.util.spec_from_file_location("check_links", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path):
    """Return a function that writes the first of two pages, and the folder of both."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "other page.html").write_text('<h1 id="a-title">Title</h1>')
    (tmp_path / "a.png").write_bytes(b"")

    def write(body):
        (tmp_path / "index.html").write_text(f'<p id="here">{body}</p>')
        return tmp_path

    return write


@pytest.mark.parametrize(
    "body",
    [
        '<a href="#here">x</a>',
        '<a href="#">x</a>',
        '<a href="deep/other%20page.html#a-title">x</a>',
        '<a href="deep/other%20page.html#:~:text=lam,-float">x</a>',
        f'<a href="{ADDRESS}/deep/other%20page.html#a-title">x</a><a href="{ADDRESS}/">x</a>',
        '<a href="https://elsewhere.example/">x</a><img src="a.png"><img src="data:image/x,">',
    ],
)
def test_links_that_lead_somewhere(checker, site, body):
    faults, _ = checker.check_site(site(body), ADDRESS)
    assert faults == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="#nowhere">x</a>', "#nowhere leads to no anchor"),
        ('<a href="deep/other%20page.html#here">x</a>', "#here leads to no anchor"),
        ('<a href="other.html">x</a>', "other.html leads to no file"),
        (f'<a href="{ADDRESS}/other.html">x</a>', "other.html leads to no file"),
        ('<img src="b.png">', "b.png leads to no file"),
        ('<link rel="stylesheet" href="a.css">', "a.css leads to no file"),
        ('<script src="https://cdn.example/x.js"></script>', "from the network"),
    ],
)
def test_links_that_lead_nowhere(checker, site, body, fault, capsys):
    folder = site(body)
    (found,) = checker.check_site(folder, ADDRESS)[0]
    assert found.startswith("index.html: ") and fault in found
    assert checker.main(folder, ADDRESS) == 1
    assert fault in capsys.readouterr().out


def test_an_empty_site_is_a_fault(checker, tmp_path):
    assert checker.main(tmp_path) == 1
