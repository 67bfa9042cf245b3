"""The estimators pass scikit-learn's checks and ours; tools that take them are in test_laws.py."""

import pytest
from helpers.ragged_checks import CHECKS
from sklearn.utils.estimator_checks import parametrize_with_checks

import sskit

# What scikit-learn expects of LinearSVC, whose solver draws samples too: the check compares
# decisions to seven digits, while a model is within `tol` of the optimum, on either side.
EXPECTED_FAILURES = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "the order of the training pairs is random: two fits agree up to tol, not to seven digits"
    )
    for kind in ("dense", "sparse")
}


# A loss of a whole set has weights of sets, not of rows: others are refused.
EXPECTED_FAILURES_OF_SETS = dict.fromkeys(
    [
        *EXPECTED_FAILURES,
        "check_sample_weights_not_overwritten",
        "check_classifiers_one_label_sample_weights",
    ],
    "a loss of a whole set has a weight for the set, and refuses others of its rows",
)


def expected_failures(estimator):
    """What an estimator fails; the steps of the likelihood do not depend on an order."""
    if isinstance(estimator, sskit.RankingSVM):
        return EXPECTED_FAILURES_OF_SETS
    return {} if getattr(estimator, "surrogate", None) == "log" else EXPECTED_FAILURES


# Some checks fit data with features around 100, not scaled; the certificate then tells, by a
# ConvergenceWarning, what LinearSVC tells in the same checks.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        sskit.StructSVMClassifier(),
        sskit.StructSVMClassifier(surrogate="log"),
        sskit.MultilabelPairwise(),
        sskit.HierarchicalMultilabel(),
        sskit.RankingSVM(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_expected_failures_are_those_of_linear_svc():
    registry = pytest.importorskip("sklearn.utils._test_common.instance_generator")
    theirs = registry.PER_ESTIMATOR_XFAIL_CHECKS[registry.LinearSVC]
    assert set(EXPECTED_FAILURES) <= set(theirs)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ragged_checks(check):
    check(sskit.SequenceTagger())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        sskit.StructSVMClassifier(kernel="rbf"),
        sskit.RegularizationPath(sskit.StructSVMClassifier(random_state=0), max_breakpoints=20),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks_of_kernels_and_paths(estimator, check):
    check(estimator)
