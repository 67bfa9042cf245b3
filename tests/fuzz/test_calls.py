"""Random calls of the public face: nothing but errors that name what is wrong."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from fuzz.cases import CRASH, HANG, Case, Report, run_case, run_cases
from fuzz.laws import Broken, check_fitted, fingerprint
from fuzz.mutations import mutated
from fuzz.subjects import Subject
from sskit import StructSVMClassifier

N_CASES = int(os.environ.get("SSKIT_FUZZ", "16000")) // 4  # of some four calls each
SEED = int(os.environ.get("SSKIT_SEED", "1"))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4))
def test_random_calls(first):
    reports = run_cases(SEED, range(first, N_CASES, 4))
    told = [
        f"case {each.number}: {each.finding}; {each.story}\n{each.detail[-1500:]}"
        for each in reports
        if each.finding
    ]
    assert not told, "\n\n".join(told)


def test_a_case_follows_from_its_numbers():
    first, second = run_case(0, 11), run_case(0, 11)
    assert first == second
    assert first.calls > 0
    assert run_case(1, 11).story != first.story


@pytest.mark.slow
def test_crash_and_hang_are_reported_and_the_others_go_on():
    reports = run_cases(0, [11, CRASH, 12, HANG, 13], patience=4.0)
    assert [report.number for report in reports] == [11, CRASH, 12, HANG, 13]
    for k in (1, 3):
        assert reports[k].finding.startswith("the process ends with status")
        assert "in planted" in reports[k].detail
    assert not any(reports[k].finding for k in (0, 2, 4))


class Planted(BaseEstimator):
    """An estimator with one fault."""

    def __init__(self, fault=None):
        self.fault = fault

    def fit(self, X, y=None):
        answer = self.fault(self, X)
        fitted = {"coef_": np.ones(2), "certified_": True, "dual_gap_": 1.0}
        fitted |= {"primal_objective_": 2.0, "dual_objective_": 1.0}
        vars(self).update(fitted | vars(self))
        return answer


def raising(error):

    def fault(model, X):
        raise error

    return fault


def negative(model, X):
    model.dual_gap_, model.primal_objective_ = -1e-3, 0.999  # the dual objective is one
    return model


def forgetful(model, X):
    model.fault = None
    raise ValueError("X is wrong, and the parameter has changed")


def writing(model, X):
    X[0] = 7.0
    return model


def test_planted_faults_are_found():
    for fault, law in [
        (raising(IndexError("list index out of range")), "error IndexError"),
        (raising(np.linalg.LinAlgError("singular")), "error LinAlgError"),
        (raising(RuntimeWarning("overflow")), "warning RuntimeWarning"),
        (raising(ValueError()), "an error without a message"),
        (raising(ValueError("setting an array element")), "an error that names nothing"),
        (forgetful, "estimator is changed by a call that failed"),
        (writing, "arguments are changed"),
        (negative, "gap < 0"),
        (lambda model, X: None, "fit does not return the estimator"),
    ]:
        with pytest.raises(Broken, match=f"^{law}"):
            called(fault)


def test_errors_that_are_allowed():
    """Those of others may name nothing."""
    for fault, kind, named in [
        (raising(ValueError("X[3] contains NaN")), "ValueError", True),
        (raising(TypeError("fault must be callable")), "TypeError", True),
        (lambda model, X: check_random_state("seed"), "ValueError", False),
    ]:
        assert called(fault).report.refusals == [("fit", kind, named)]


def called(fault):
    """A case that fitted a planted estimator."""
    case = Case(np.random.default_rng(0), Report(0, 0))
    case.subject, case.words = Subject(Planted(fault)), ["fault"]
    case.call(case.subject.target, "fit", {"X": np.zeros(3)})
    return case


def test_weights_that_are_no_numbers_are_found():
    model = StructSVMClassifier().fit(np.eye(3), [0, 1, 2])
    check_fitted(model)
    model.coef_[0, 0] = np.nan
    with pytest.raises(Broken, match="coef_ is no number"):
        check_fitted(model)


def test_fingerprints():
    """Also of times, and of matrices of objects."""
    matrix = np.array([[None, "a"]], dtype=object).view(np.matrix)
    times = pd.Series([pd.Timestamp(0), pd.NaT])
    for value in (np.eye(2), [1, "a"], {"a": [np.zeros(1)]}, (None, 0.5), times, matrix):
        assert fingerprint(value) == fingerprint(value)
        rng = np.random.default_rng(0)
        others = [mutated(rng, value)[0] for _ in range(20)]
        assert sum(fingerprint(other) != fingerprint(value) for other in others) > 10
