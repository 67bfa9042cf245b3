"""Pictures of objects link to the pages of the reference."""

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
MODULES = [sskit, sskit.solvers, sskit.preprocessing, sskit.models]
DOCUMENTED = [
    item
    for module in MODULES
    for item in (getattr(module, name) for name in module.__all__)
    if isinstance(item, type) and issubclass(item, BaseEstimator)
]


def listed():
    """Return the names for which the reference makes a page."""
    text = (ROOT / "doc" / "api.rst").read_text()
    names, module = set(), ""
    for line in text.splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.match(r"   (\w+)$", line):
            names.add(f"{module}.{match[1]}")
    return names


@pytest.mark.parametrize("cls", DOCUMENTED, ids=lambda cls: cls.__name__)
def test_link_is_to_a_page_of_the_reference(cls):
    link = cls._get_doc_link(cls.__new__(cls))
    assert link == f"{ADDRESS}/generated/{cls.__module__}.{cls.__name__}.html"
    assert f"{cls.__module__}.{cls.__name__}" in listed()


def test_address_is_that_of_the_project():
    text = (ROOT / "pyproject.toml").read_text()
    assert re.search(r'^Documentation = "(.*)/"$', text, re.MULTILINE)[1] == ADDRESS


def test_classes_of_users_have_no_page():
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


@pytest.mark.parametrize(
    "estimator", [StructSVMClassifier(), RegularizationPath(StructSVMClassifier(random_state=0))]
)
def test_picture_of_a_fit_stays_short(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 300))
    html = estimator.fit(X, X[:, 0] > 0)._repr_html_()
    table = html[html.index("Fitted attributes") :] if "Fitted attributes" in html else ""
    assert max(map(len, re.findall(r"<td>(.*?)</td>", table, re.DOTALL)), default=0) < 1000
