"""The estimators pass scikit-learn's checks and ours; its tools take them (see test_laws.py)."""

import numpy as np
import pytest
from helpers.ragged_checks import CHECKS
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sskit
from sskit.datasets import make_chains
from sskit.metrics import sequence_accuracy_scorer, token_accuracy_scorer
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW

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


def test_searches_in_processes_and_pipelines():
    """What else of the tools of scikit-learn each estimator must take is in test_laws."""
    X, y = make_chains(36, n_features=6, n_states=3, noise=0.8, random_state=0)
    grid = {"sequencetagger__lam": [0.03, 0.3], "sequencetagger__loss": ["hamming", "hamming_sum"]}
    tagger = sskit.SequenceTagger(tol=0.05, random_state=0)
    model = make_pipeline(TokenTransformer(StandardScaler()), tagger)
    scoring = {"token": token_accuracy_scorer, "sequence": sequence_accuracy_scorer}
    options = {"scoring": scoring, "refit": "sequence", "cv": KFold(3)}
    one, two = (GridSearchCV(model, grid, n_jobs=n, **options).fit(X, y) for n in (1, 2))
    for name in scoring:
        scores = [search.cv_results_[f"mean_test_{name}"] for search in (one, two)]
        np.testing.assert_array_equal(*scores)
    assert (one.cv_results_["mean_test_token"] >= scores[0]).all()
    assert one.best_estimator_.score(X, y) > 0.8
    grid = {"lam": [0.1, 1.0], "solver__sampling": ["permutation", "uniform"]}
    classifier = sskit.StructSVMClassifier(tol=0.05, solver=BCFW(), random_state=0)
    search = GridSearchCV(classifier, grid, scoring=["accuracy", "f1_macro"], refit="f1_macro")
    assert search.fit(*load_iris(return_X_y=True)).best_score_ > 0.8
    assert search.best_estimator_.solver_.sampling in ("permutation", "uniform")
