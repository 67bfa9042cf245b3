"""Models that are saved without pickle, by skops, and files that were changed."""

import importlib
import json
import pickle
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.saved import MODELS, OWN_TYPES, PATHS, SOLVERS, WARM, answers
from helpers.saved import chains as make_chains
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from skops import io

from sskit import SequenceTagger, StructSVMClassifier
from sskit.preprocessing import TokenVectorizer

CASES = MODELS | WARM | PATHS
for name, solver in SOLVERS.items():
    tagger = SequenceTagger(lam=0.1, tol=0.3, solver=solver, random_state=0)
    CASES[f"solver, {name}"] = (tagger, make_chains)


def fitted(name):
    """A fitted model, and data to predict."""
    estimator, data = CASES[name]
    X, y = data()
    with warnings.catch_warnings():
        # the last digit of the baselines is not needed here
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(X, y), X, y


def through_a_file(model):
    """A model that was saved and loaded, and the types in the file that skops does not know."""
    data = io.dumps(model)
    found = io.get_untrusted_types(data=data)
    return io.loads(data, trusted=found), set(found)


# Of arrays and of scorers; the rest is the package's own.
OTHERS = {
    "numpy.ma.MaskedArray",  # which newer versions of skops trust by themselves
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.metrics._scorer._Scorer",
}
WARM_START = {"sskit.core.Fingerprint", "sskit.estimators.WarmStart", "sskit.solvers.DualPoint"}


def assert_lasting(names):
    """Raise unless types are named by the packages that export them, which makes them movable."""
    for name in names:
        module, _, attribute = name.rpartition(".")
        found = getattr(importlib.import_module(module), attribute)
        assert f"{found.__module__}.{found.__qualname__}" == name
        assert module.startswith("sskit") and module.count(".") <= 1


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CASES)
def test_loaded_models_say_the_same(name):
    model, X, y = fitted(name)
    loaded, found = through_a_file(model)
    assert_lasting(found - OTHERS - {*OWN_TYPES})
    assert name in WARM or not found & WARM_START
    assert "structure" in name or not found & {*OWN_TYPES}
    assert_same(answers(loaded, X), answers(model, X))
    assert loaded.score(X, y) == model.score(X, y)
    assert repr(loaded) == repr(model)
    assert set(vars(loaded)) == set(vars(model))
    assert_same(answers(pickle.loads(pickle.dumps(model)), X), answers(model, X))


@pytest.mark.parametrize("name", WARM)
def test_loaded_models_go_on_from_where_they_were(name):
    model, X, y = fitted(name)
    loaded, types = through_a_file(model)
    assert types >= WARM_START
    expected, found = (m.set_params(tol=0.05).fit(X, y) for m in (model, loaded))
    assert_same(answers(found, X), answers(expected, X))
    assert found.n_oracle_calls_ == expected.n_oracle_calls_
    assert found.dual_objective_ == expected.dual_objective_


def test_types_that_are_not_trusted_are_refused():
    X, y = CASES["classifier"][1]()
    model = StructSVMClassifier(kernel=own_kernel, tol=0.3, random_state=0).fit(X, y)
    data, own = io.dumps(model), f"{own_kernel.__module__}.own_kernel"
    unknown = io.get_untrusted_types(data=data)
    assert own in unknown
    for trusted, told in (([n for n in unknown if n != own], own), (None, "StructSVMClassifier")):
        with pytest.raises(TypeError, match=f"Untrusted types.*{told}"):
            io.loads(data, trusted=trusted)


def own_kernel(X, Y):
    return X @ Y.T


EVERY = [*MODELS, *PATHS]
CHANGES = [(300, 1000, EVERY[::6]), (120, 2, [*MODELS][1::9])]
# All parts of a model: python -m helpers.hostile '[[1, 1000, ["NAME"]]]'
SLOW = [pytest.param((12, 1000, EVERY[k::6]), marks=pytest.mark.slow) for k in range(6)]


@cache
def run_hostile(cases):
    """A process that tries all of some cases."""
    command = [sys.executable, "-X", "faulthandler", "-m", "helpers.hostile", cases]
    options = {"cwd": Path(__file__).parent, "capture_output": True, "text": True}
    return subprocess.run(command, timeout=900, **options)


@pytest.mark.parametrize("case", CHANGES + SLOW)
def test_changed_parts_crash_nothing(case):
    """Every so many parts of files, and of packed tables, are changed, one at a time."""
    run = run_hostile(json.dumps(CHANGES if case in CHANGES else [case]))
    if "minimum cuts need PyMaxflow" in run.stderr:
        pytest.skip("minimum cuts need PyMaxflow, which is not installed")
    # a crash leaves the change that it came from in the last line
    told = run.stdout[-3000:], run.stderr[-3000:]
    assert f"\nfindings of {case[0]}, {case[1]}: []\n" in run.stdout, told
    assert run.returncode == 0, told


@pytest.mark.parametrize("name", ["classifier, poly", "tagger, rbf", "path"])
def test_files_that_are_cut_short_or_flipped_are_refused_or_say_the_same(name):
    model, X, _ = fitted(name)
    data, expected = io.dumps(model, compression=zipfile.ZIP_DEFLATED), answers(model, X)
    trusted = io.get_untrusted_types(data=data)
    for size in np.linspace(0, len(data) - 1, 40).astype(int):
        with pytest.raises((zipfile.BadZipFile, OSError, ValueError, KeyError)):
            io.loads(data[:size], trusted=trusted)
    rng, n_refused = np.random.default_rng(0), 0
    for place in rng.integers(len(data), size=150):
        changed = bytearray(data)
        changed[place] ^= 1 << rng.integers(8)
        try:
            found = answers(io.loads(bytes(changed), trusted=trusted), X)
        except Exception:
            n_refused += 1
        else:  # the time that a part of the archive was written, say
            assert_same(found, expected)
    assert n_refused > 75


LATER = """
import pickle, sys
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        model, X = pickle.load(file)
    before = set(sys.modules)
    model.predict(X)
    assert set(sys.modules) == before, (path, set(sys.modules) - before)
"""


def test_no_request_imports_a_module(run_python, tmp_path):
    paths = [tmp_path / name for name in ("tagger, rbf", "graphs, expansions")]
    for path in paths:
        model, X, _ = fitted(path.name)
        path.write_bytes(pickle.dumps((model, X[:1])))
    run = run_python("-c", LATER, *map(str, paths))
    assert run.returncode == 0, run.stderr[-3000:]


def test_the_first_request_makes_no_table_of_names():
    """A fit makes it, and so does loading."""
    X = [[{f"a{i}": 1.0, "word": f"w{i}"}, {"word": "b"}] for i in range(1000)]
    tagger = SequenceTagger(tol=0.999, random_state=0).fit(X, [["A", "B"]] * len(X))
    vectorizers = TokenVectorizer().fit(X), TokenVectorizer()
    vectorizers[1].fit_transform(X)
    loaded, _ = through_a_file(tagger)
    taggers = tagger, loaded, pickle.loads(pickle.dumps(tagger))
    calls = [one.predict for one in taggers] + [one.transform for one in vectorizers]
    for call in calls:
        tracemalloc.start()
        call(X[500:501])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.5 * sys.getsizeof(tagger.vectorizer_.vocabulary_)
