"""One idea, one name: parameters and strings of all estimators."""

import inspect
import re

import pytest

import sskit
from sskit import SequenceTagger
from sskit.estimators.base.estimator import ALIASES, SOLVERS, StructuredEstimator

ESTIMATORS = [
    value
    for value in map(sskit.__dict__.get, sskit.__all__)
    if inspect.isclass(value) and issubclass(value, StructuredEstimator)
]
NEEDED = {"hierarchy", "loss", "model", "parents"}  # what comes before lam


def test_strings_of_solvers_are_the_names_of_their_classes():
    for name, cls in SOLVERS.items():
        spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
        assert name in (spelled, "auto")


@pytest.mark.parametrize("alias", ALIASES)
def test_short_names_of_papers_are_taken_too(alias):
    assert alias not in SOLVERS
    X, y = [[[0.0], [1.0]]] * 3, [["a", "b"]] * 3
    model = SequenceTagger(solver=alias, tol=0.5, random_state=0).fit(X, y)
    assert type(model.solver_) is SOLVERS[ALIASES[alias]]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_parameters_have_one_name_and_lam_comes_first(cls):
    """Before it comes what a model cannot do without."""
    names = list(inspect.signature(cls).parameters)
    assert [name for name in names if name not in NEEDED][0] == "lam"
    assert not {*names} & {"oracle", "pairwise", "transitions", "C", "alpha"}
