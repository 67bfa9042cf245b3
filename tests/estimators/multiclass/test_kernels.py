"""Estimators in a kernel space are linear ones in the features of the kernel."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import flowers
from helpers.refusals import refused
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from sskit import SequenceTagger, StructSVMClassifier
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW

GAMMA = 0.5
# Several steps within a block may be equally good, and rounding would choose between them.
STEADY = BCFW(block_steps=1, stored_passes=0, batch_size=1)


FLOWERS = [2.0 * flowers()[0][:90], flowers()[1][:90]]
MOONS = make_moons(90, noise=0.2, random_state=0)
STRINGS, DIGITS = make_digit_strings(24, random_state=0)
STRINGS = [np.asarray(x, dtype=float) for x in STRINGS]


def classifier(**params):
    params = {"lam": 0.02, "kernel": "rbf", "gamma": GAMMA, "tol": 1e-4, "random_state": 0} | params
    # a linear kernel knows of no columns, and of the largest hinge alone
    return StructSVMClassifier(standardize=False, surrogate="crammer_singer", **params)


def tagger(**params):
    params = {"lam": 0.2, "kernel": "rbf", "gamma": GAMMA, "tol": 0.01, "random_state": 0} | params
    return SequenceTagger(**params)


def without_intercept(K, y, C):
    """Decision values on the training rows of the SVC that has no intercept.

    The data are doubled: every row again as its negative, with the other label. By symmetry an
    optimal intercept is zero, and the functions are those of the rows without one.
    """
    doubled = np.block([[K, -K], [-K, K]])
    svc = SVC(kernel="precomputed", C=C / 2, tol=1e-9).fit(doubled, np.concatenate([y, -y]))
    return svc.decision_function(doubled)[: len(y)] - svc.intercept_


@pytest.mark.parametrize("lam", [0.1, 0.005])
def test_two_classes_are_those_of_svc(lam):
    X, y = MOONS[0], 2 * MOONS[1] - 1
    model = classifier(lam=lam, fit_intercept=False, tol=1e-13, max_iter=20_000).fit(X, y)
    # ||w||^2 of two opposite functions is half of that of their difference: C = 2 / (lam n)
    expected = without_intercept(rbf_kernel(X, gamma=GAMMA), y, 2 / (lam * len(X)))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-5)
    f = model.decision_function(X)
    K = rbf_kernel(X[model.support_], gamma=GAMMA)
    sqnorm = float(model.dual_coef_[0] @ K @ model.dual_coef_[0])
    primal = lam / 4 * sqnorm + np.maximum(1 - y * f, 0).mean()
    assert model.primal_objective_ == pytest.approx(primal, abs=1e-10)


def test_precomputed_is_rbf():
    X, y = FLOWERS
    K = rbf_kernel(X, gamma=GAMMA)
    one, copy = classifier(solver=STEADY).fit(X, y), K.copy()
    other = classifier(kernel="precomputed", gamma="scale", solver=STEADY).fit(K, y)
    np.testing.assert_array_equal(K, copy)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(K), atol=1e-10)
    np.testing.assert_array_equal(one.support_, other.support_)
    assert other.support_vectors_.shape == (0, 0)
    (X, y), tests = (STRINGS, DIGITS), make_digit_strings(5, random_state=1)[0]
    of_all, of_tests = (
        [rbf_kernel(x, np.concatenate(X), gamma=GAMMA) for x in given] for given in (X, tests)
    )
    one = tagger(solver=STEADY).fit(X, y)
    other = tagger(kernel="precomputed", gamma="scale", solver=STEADY).fit(of_all, y)
    scores = one.decision_function(tests), other.decision_function(of_tests)
    np.testing.assert_allclose(*map(np.concatenate, scores), atol=1e-10)
    # the default lam of a linear kernel is that of rows
    lams = [tagger(kernel=kernel, gamma="scale", lam=None, tol=0.5).fit(X, y).lam_
            for kernel in ("linear", linear_kernel)]  # fmt: skip
    assert lams[0] == pytest.approx(lams[1])


def test_the_intercept_adds_one_to_the_kernel():
    X, y = FLOWERS
    one = classifier(solver=STEADY).fit(X, y)

    def larger(A, B):
        return rbf_kernel(A, B, gamma=GAMMA) + 1.0

    other = classifier(kernel=larger, gamma="scale", fit_intercept=False, solver=STEADY).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(one.intercept_, one.dual_coef_.sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(other.intercept_, np.zeros(3))


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_gamma_and_sparse_rows(kernel):
    X, y = FLOWERS
    for gamma in ("scale", "auto", 0.3):
        params = {"kernel": kernel, "gamma": gamma, "tol": 0.1, "solver": STEADY}
        dense, sparse = (classifier(**params).fit(rows, y) for rows in (X, sp.csr_array(X)))
        svc = SVC(kernel=kernel, gamma=gamma).fit(X, y)
        assert dense.kernel_.parameters["gamma"] == pytest.approx(svc._gamma)
        assert sparse.kernel_.parameters["gamma"] == pytest.approx(svc._gamma)
        scores = sparse.decision_function(X)
        np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), scores, atol=1e-8)
        assert (dense.predict(X) == sparse.predict(X)).mean() > 0.9
        assert sp.issparse(sparse.support_vectors_)
        assert dense.certified_ == (kernel != "sigmoid")
    constant = classifier(kernel=kernel, gamma="scale").fit(np.ones((6, 2)), [0, 1] * 3)
    assert constant.kernel_.parameters["gamma"] == 1.0  # as SVC has it


@pytest.mark.parametrize("kind", [classifier, tagger])
def test_support_vectors(kind):
    X, y = FLOWERS if kind is classifier else (STRINGS, DIGITS)
    model = kind(lam=0.005 if kind is classifier else 0.2).fit(X, y)
    rows, labels = (X, y) if kind is classifier else map(np.concatenate, (X, y))
    assert 0 < len(model.support_) < len(rows) + (kind is tagger)
    assert (np.diff(model.support_) > 0).all()
    np.testing.assert_array_equal(model.support_vectors_, rows[model.support_])
    assert model.dual_coef_.shape == (len(model.classes_), len(model.support_))
    counts = [(labels[model.support_] == label).sum() for label in model.classes_]
    np.testing.assert_array_equal(model.n_support_, counts)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-12)
    assert not hasattr(model, "coef_") and model.n_features_in_ == rows.shape[1]
    if kind is classifier:  # sequences are in test_enumeration.py
        scores = rbf_kernel(X, model.support_vectors_, gamma=GAMMA) @ model.dual_coef_.T
        found = model.decision_function(X)
        np.testing.assert_allclose(found, scores + model.intercept_, atol=1e-12)
    model.set_params(kernel="linear", gamma="scale").fit(X, y)
    assert not hasattr(model, "support_") and model.coef_.shape[1] == rows.shape[1]


def test_tags_say_that_a_fold_of_a_matrix_has_some_rows_and_columns():
    """By them GridSearchCV cuts matrices; those of a path are in path/test_choosing.py."""
    models = classifier(kernel="precomputed"), classifier()
    tags = [model.__sklearn_tags__().input_tags for model in models]
    assert [(tag.pairwise, tag.sparse) for tag in tags] == [(True, False), (False, True)]


def test_wrong_kernels():
    X, y = FLOWERS
    K = rbf_kernel(X)
    precomputed, large = {"kernel": "precomputed", "gamma": "scale"}, X * 1e120
    for params, rows, message in (
        (precomputed, X, r"square kernel matrix .* shape \(90, 4\)"),
        (precomputed, sp.csr_array(K), "X must be dense, got a sparse matrix"),
        ({"kernel": "poly", "gamma": 1.0}, large, "^the kernel 'poly' overflows; scale the feat"),
        ({"kernel": int}, X, "the kernel function <class 'int'> failed on two arrays"),
    ):
        model = classifier(**params)
        with refused(model, ValueError, message):
            model.fit(rows, y)
    with pytest.raises(ValueError, match="80 features, but .* 90 features"):
        classifier(**precomputed).fit(K, y).predict(K[:, :80])
    X, y = STRINGS, DIGITS
    for rows, message in ((X, "square kernel matrix"), (list(map(sp.csr_array, X)), "be dense")):
        with pytest.raises(ValueError, match=message):
            tagger(**precomputed).fit(rows, y)


def test_a_kernel_that_is_not_definite_proves_nothing():
    matrix = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    model = StructSVMClassifier(kernel="precomputed", solver="one_slack").fit(matrix, [0, 1, 0])
    assert model.dual_gap_ < 0
    assert not model.certified_


PARAMS = {"kernel": "rbf", "gamma": 2.0, "lam": 0.01, "random_state": 0}


@pytest.mark.parametrize("kernel_cache", [500.0, 0.01])
def test_a_pickle_holds_support_vectors_but_no_kernel_rows(kernel_cache):
    X, y = (np.repeat(part, 8, axis=0) for part in MOONS)
    X += np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    model = StructSVMClassifier(**PARAMS, kernel_cache=kernel_cache).fit(X, y)
    saved = pickle.dumps(model)
    held = sum(
        getattr(model, name).nbytes for name in ("support_", "support_vectors_", "dual_coef_")
    )
    # a row of the kernel matrix has 5760 bytes
    assert len(saved) < held + 6000


# The peak is read after a small fit, which has loaded all that is imported, and again at the end.
RUN = """
import numpy as np
from sskit import StructSVMClassifier

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

def make(n):
    X = np.random.default_rng(n).uniform(size=(n, 2))
    return X, np.floor(4 * X).sum(axis=1) % 2

params = {"kernel": "rbf", "gamma": 20.0, "lam": 1e-4, "tol": TOL, "random_state": 0}
StructSVMClassifier(**params).fit(*make(100))
X, y = make(5000)
before = peak()
model = StructSVMClassifier(**params, kernel_cache=CACHE, solver=SOLVER).fit(X, y)
assert model.certified_ and model.dual_gap_ <= TOL, model.dual_gap_
fitted = peak()
model.predict(make(7000)[0])
print(fitted - before, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("solver", "tol"), [("'auto'", 0.1), pytest.param("'fw'", 0.5, marks=pytest.mark.slow)]
)
def test_the_peak_is_the_cache_and_blocks_of_rows(solver, tol, tmp_path):
    """The matrix has 190 MiB; a block of its rows has 16, and the kernel function needs more."""
    cache, blocks = 32, 5 * 16
    script = RUN.replace("CACHE", str(cache)).replace("SOLVER", solver).replace("TOL", str(tol))
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    of_fit, of_all = map(float, found.stdout.split())
    print(f"{solver}: {of_fit:.0f} MiB in fit, {of_all:.0f} MiB with predict")
    assert of_fit < cache + blocks
    assert of_all < cache + blocks
