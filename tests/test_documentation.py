"""Pictures of objects link to the pages of the reference, and the link checker works."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sskit
from sskit import RegularizationPath, SequenceTagger, StructSVMClassifier, StructuredModel
from sskit._public import ADDRESS
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW

ROOT = Path(__file__).resolve().parents[1]


def test_links_are_to_pages_of_the_reference():
    """That all public objects have one is a matter of tests/test_docstrings.py."""
    for module in (sskit, sskit.solvers, sskit.preprocessing, sskit.models):
        for cls in (getattr(module, name) for name in module.__all__):
            if isinstance(cls, type) and issubclass(cls, BaseEstimator):
                link = cls._get_doc_link(cls.__new__(cls))
                assert link == f"{ADDRESS}/generated/{cls.__module__}.{cls.__name__}.html"
    text = (ROOT / "pyproject.toml").read_text()
    assert re.search(r'^Documentation = "(.*)/"$', text, re.MULTILINE)[1] == ADDRESS

    class Mine(StructuredModel):
        pass

    class Tagger(SequenceTagger):
        pass

    assert Mine()._get_doc_link() == "" == Tagger()._get_doc_link()


def test_picture_links_and_explains_parameters():
    tagger = SequenceTagger(solver=BCFW(cache_size=5), lam=0.1)
    html = make_pipeline(TokenTransformer(StandardScaler()), tagger)._repr_html_()
    for name in ("SequenceTagger", "preprocessing.TokenTransformer"):
        assert f'href="{ADDRESS}/generated/sskit.{name}.html' in html
    assert "scikit-learn.org" in html  # what is not ours still goes where it belongs
    assert "solver__cache_size" in html


def test_picture_of_a_fit_stays_short():
    X = np.random.default_rng(0).normal(size=(60, 300))
    for model in (StructSVMClassifier(), RegularizationPath(StructSVMClassifier(random_state=0))):
        html = model.fit(X, X[:, 0] > 0)._repr_html_()
        table = html[html.index("Fitted attributes") :] if "Fitted attributes" in html else ""
        assert max(map(len, re.findall(r"<td>(.*?)</td>", table, re.DOTALL)), default=0) < 1000


# ------------------------------------------------------- the checker of the built pages

SITE = "https://docs.example/stable"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="#here">x</a><a href="#">x</a>', None),
        ('<a href="deep/other%20page.html#a-title">x</a>', None),
        ('<a href="deep/other%20page.html#:~:text=lam,-float">x</a>', None),
        (f'<a href="{SITE}/deep/other%20page.html#a-title">x</a><a href="{SITE}/">x</a>', None),
        ('<a href="https://else.example/">x</a><img src="a.png"><img src="data:image/x,">', None),
        ('<a href="#nowhere">x</a>', "#nowhere leads to no anchor"),
        ('<a href="deep/other%20page.html#here">x</a>', "#here leads to no anchor"),
        ('<a href="other.html">x</a>', "other.html leads to no file"),
        (f'<a href="{SITE}/other.html">x</a>', "other.html leads to no file"),
        ('<img src="b.png">', "b.png leads to no file"),
        ('<link rel="stylesheet" href="a.css">', "a.css leads to no file"),
        ('<script src="https://cdn.example/x.js"></script>', "from the network"),
    ],
)
def test_the_checker_of_links(tmp_path, capsys, body, fault):
    spec = importlib.util.spec_from_file_location("check_links", ROOT / ".ci" / "check_links.py")
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    assert checker.main(tmp_path) == 1  # an empty site is a fault
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "other page.html").write_text('<h1 id="a-title">Title</h1>')
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(f'<p id="here">{body}</p>')
    faults, _ = checker.check_site(tmp_path, SITE)
    if fault is None:
        assert faults == []
    else:
        (found,) = faults
        assert found.startswith("index.html: ") and fault in found
        assert checker.main(tmp_path, SITE) == 1
        assert fault in capsys.readouterr().out
