"""Every public object explains itself and has a page; pages link to what there is, in our words."""

import doctest
import inspect
import re
import runpy
import subprocess
import threading
import zlib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from helpers.public import PROJECT, ROOT, public_objects, script
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import RegularizationPath, SequenceTagger, StructSVMClassifier, StructuredModel, _public
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW

# Codes of numpydoc.validate that are errors here, beyond those of `make lint`, which does not see
# compiled modules. Left out: those on layout that differ between Python and compiled objects
# (GL01-GL03), on See Also and extended summaries, and PR08, which would forbid a description to
# begin with a symbol of the theory.
ERRORS = {
    "GL05", "GL06", "GL07", "GL08", "GL09", "GL10", "SS01", "SS02", "SS03", "SS04", "SS05",
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR09", "PR10", "RT01", "RT03", "YD01",
}  # fmt: skip
# A method speaks in the context of its class: what it returns may be told by its first line.
METHOD_ERRORS = ERRORS - {"RT01", "RT03"}
# In a class that takes keywords the text may follow another order: its own ones come early.
CLASS_ERRORS = ERRORS - {"PR03"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


OBJECTS = public_objects()


def faults(name, codes):
    """Return the numpydoc answers on an object that are errors here."""
    return [f"{name}: {code}: {text}" for code, text in validate(name)["errors"] if code in codes]


@pytest.mark.parametrize("name", OBJECTS)
def test_docstring(name):
    item = OBJECTS[name]
    if not inspect.isclass(item):
        assert faults(name, ERRORS) == []
        return
    assert faults(name, CLASS_ERRORS) == []
    for method, value in inspect.getmembers(item, inspect.isroutine):
        ours = (getattr(value, "__module__", None) or "").startswith("sskit")
        if ours and not method.startswith("_"):
            assert faults(f"{name}.{method}", METHOD_ERRORS) == []
    # One entry may document several parameters: "lower, upper : float".
    documented = get_doc_object(item)["Parameters"]
    listed = [part.strip() for entry in documented for part in entry.name.split(",")]
    taken = inspect.signature(item).parameters.values()
    assert sorted(listed) == sorted(parameter.name for parameter in taken)
    by_place = [p.name for p in taken if p.kind is not p.KEYWORD_ONLY]
    assert listed[: len(by_place)] == by_place


SLOW = pytest.param("sskit.PartsModel", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [SLOW, *(name for name in OBJECTS if name not in SLOW.values)])
def test_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    tests = doctest.DocTestFinder(recurse=False).find(OBJECTS[name], name, globs={})
    assert any(test.examples for test in tests), "no Examples section"
    report = []
    for test in tests:
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert report == []


def test_reference_is_complete():
    """The pages of the API reference list all of them, and nothing else."""
    text = (ROOT / "doc" / "reference" / "api.rst").read_text()
    listed = re.findall(r"^   ~(sskit[\w.]+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(OBJECTS)


def test_the_address_is_that_of_the_project():
    assert _public.documentation() == PROJECT.get("urls", {}).get("Documentation", "")
    # and stands nowhere else
    hosts = re.compile(r"https?://(?!pypi)[^\s\"'>)]*\bsskit\b")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    names = [*map(Path, listed.split())]
    texts = [n for n in names if n.suffix in {".md", ".rst", ".py", ".cff", ".yml", ".yaml"}]
    assert [str(n) for n in texts if hosts.search((ROOT / n).read_text())] == []


def test_pages_of_other_projects_are_linked_where_these_can_be_reached(tmp_path, capsys):
    fetch = runpy.run_path(str(ROOT / "doc" / "inventories.py"))["fetch"]
    names = zlib.compress(b"sklearn.svm.SVC py:class 1 svc.html -\n")
    inventory = b"# Sphinx inventory version 2\n# ... is compressed using zlib.\n" + names
    for name, text in (("a", inventory), ("b", inventory), ("lost", b"<html>not found</html>")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "objects.inv").write_bytes(text)
    handler = partial(QuietHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        projects = {name: f"{address}/{name}/" for name in ("a", "lost", "b", "none")}
        some = fetch(tmp_path / "files", projects)
        none = fetch(tmp_path / "files", {"none": projects["none"], "b": projects["b"]})
        server.shutdown()
        thread.join()
    assert some == {"a": (projects["a"], str(tmp_path / "files" / "a.inv"))} and none == {}
    assert Path(some["a"][1]).read_bytes() == inventory
    assert fetch(tmp_path / "files", projects) == {}
    assert capsys.readouterr().out.count("no links to") == 3


class QuietHandler(SimpleHTTPRequestHandler):
    """A server of files that writes down nothing."""

    def log_message(self, *args):
        """Nothing is told of a request."""


def test_pictures_link_to_the_reference_explain_parameters_and_stay_short(monkeypatch):
    monkeypatch.setattr(_public, "documentation", str)
    assert SequenceTagger()._get_doc_link() == ""
    ADDRESS = "https://pages.example/stable"
    monkeypatch.setattr(_public, "documentation", lambda: f"{ADDRESS}/")
    for name, cls in OBJECTS.items():
        if inspect.isclass(cls) and issubclass(cls, BaseEstimator):
            assert cls._get_doc_link(cls.__new__(cls)) == f"{ADDRESS}/generated/{name}.html"
    for parent in (StructuredModel, SequenceTagger):
        assert type("Mine", (parent,), {})()._get_doc_link() == ""
    tagger = SequenceTagger(solver=BCFW(cache_size=5), lam=0.1)
    html = make_pipeline(TokenTransformer(StandardScaler()), tagger)._repr_html_()
    for name in ("SequenceTagger", "preprocessing.TokenTransformer"):
        assert f'href="{ADDRESS}/generated/sskit.{name}.html' in html
    assert "scikit-learn.org" in html  # what is not ours still goes where it belongs
    assert "solver__cache_size" in html
    X = np.random.default_rng(0).normal(size=(60, 300))
    for model in (StructSVMClassifier(), RegularizationPath(StructSVMClassifier(random_state=0))):
        html = model.fit(X, X[:, 0] > 0)._repr_html_()
        table = html[html.index("Fitted attributes") :] if "Fitted attributes" in html else ""
        assert max(map(len, re.findall(r"<td>(.*?)</td>", table, re.DOTALL)), default=0) < 1000


def test_picture_of_a_fit_says_its_gap():
    X = np.arange(12.0).reshape(6, 2)
    model = StructSVMClassifier(random_state=0)
    assert "ertified: duality gap" not in model._repr_html_()
    path = RegularizationPath(model, lam_min=0.1).fit(X, X[:, 0] > 5)
    assert "ertified: duality gap" not in path._repr_html_()
    told = f"<p>Certified: duality gap {model.fit(X, X[:, 0] > 5).dual_gap_:.3g}, "
    bundle = model._repr_mimebundle_()
    assert told in model._repr_html_() and told in bundle["text/html"]
    assert bundle["text/plain"] == repr(model)
    model.dual_gap_, model.primal_objective_, model.certified_ = 0.0, 0.0, False
    told = f"<p>Not certified: duality gap 0, after {model.n_iter_} passes.</p>"
    assert model._repr_html_().endswith(told)


# ---- checkers ----------------------------------------------------------------------------------

SITE = "https://docs.example/stable"


def test_the_checker_of_links(tmp_path, capsys):
    checker = script("check_links")
    assert checker["main"](tmp_path) == 1  # an empty site is a fault
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "other page.html").write_text('<h1 id="a-title">Title</h1>')
    (tmp_path / "a.png").write_bytes(b"")
    links = (
        "#here",
        "#",
        f"{SITE}/deep/other%20page.html#a-title",
        f"{SITE}/",
        "https://else.example/",
    )
    links += "deep/other%20page.html#a-title", "deep/other%20page.html#:~:text=lam,-float"
    page = "".join(f'<p id="here"><a href="{link}">x</a></p>' for link in links)
    page += '<img src="a.png"><img src="data:image/x,">'
    wrong = {
        '<a href="#nowhere">x</a>': "#nowhere leads to no anchor",
        '<a href="deep/other%20page.html#here">x</a>': "#here leads to no anchor",
        f'<a href="{SITE}/other.html">x</a>': "other.html leads to no file",
        '<img src="b.png">': "b.png leads to no file",
        '<link rel="stylesheet" href="a.css">': "a.css leads to no file",
        '<script src="https://cdn.example/x.js"></script>': "from the network",
    }
    for status, more in enumerate(([], wrong)):
        (tmp_path / "index.html").write_text(page + "".join(more))
        assert checker["main"](tmp_path, SITE) == status
    told = capsys.readouterr().out.splitlines()[-len(wrong) :]
    assert all(line.startswith("index.html: ") for line in told)
    assert [sum(fault in line for line in told) for fault in wrong.values()] == [1] * len(wrong)
