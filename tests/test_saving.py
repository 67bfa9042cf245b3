"""Models that are saved without pickle, by skops."""

import importlib
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers.saved import MODELS, OWN_TYPES, PATHS, SOLVERS, WARM, answers
from helpers.saved import chains as make_chains
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from skops import io

import sskit
from sskit import SequenceTagger, StructSVMClassifier
from sskit.utils import trusted_types

CASES = MODELS | WARM | PATHS
for name, solver in SOLVERS.items():
    tagger = SequenceTagger(lam=0.1, tol=0.3, solver=solver, random_state=0)
    CASES[f"solver, {name}"] = (tagger, make_chains)


def fitted(name):
    """A fitted model, and data to predict."""
    estimator, data = CASES[name]
    X, y = data()
    with warnings.catch_warnings():
        # nobody waits for the last digit of the baselines here
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(X, y), X, y


def through_a_file(model, own=()):
    """A model that was saved and loaded, and the types in the file that skops does not know."""
    data = io.dumps(model)
    found = set(io.get_untrusted_types(data=data))
    return io.loads(data, trusted=[*trusted_types(warm_start=True), *own]), found


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CASES)
def test_loaded_models_say_the_same(name):
    model, X, y = fitted(name)
    own = OWN_TYPES if "structure" in name else []
    loaded, found = through_a_file(model, own)
    assert found <= {*trusted_types(warm_start=name in WARM), *own}
    assert_same(answers(loaded, X), answers(model, X))
    assert loaded.score(X, y) == model.score(X, y)
    assert repr(loaded) == repr(model)
    assert set(vars(loaded)) == set(vars(model))


def test_every_trusted_type_is_met():
    """A type that no file holds is trusted for nothing."""
    met = set()
    for name in CASES:
        met |= set(io.get_untrusted_types(data=io.dumps(fitted(name)[0])))
    unmet = set(trusted_types(warm_start=True)) - met
    # those of scorers, which all are made alike, and of what wraps an object of the user
    others = {f"sskit.metrics.{name}" for name in sskit.metrics.__all__} | {
        "scipy.sparse._csr.csr_matrix",
        "numpy.ma.MaskedArray",  # which newer versions of skops trust by themselves
    }
    assert unmet <= others


def test_trusted_types_have_lasting_names():
    """They are named by the packages that export them, so that files stay readable."""
    names = trusted_types(warm_start=True)
    assert len(set(names)) == len(names)
    for name in names:
        module, _, attribute = name.rpartition(".")
        found = getattr(importlib.import_module(module), attribute)
        if module != "numpy.ma":  # which calls itself otherwise in older versions
            assert f"{found.__module__}.{found.__qualname__}" == name
        if module.startswith("sskit"):
            assert module.count(".") <= 1
    trusted_types().clear()  # of its own
    assert trusted_types()


def test_the_guide_lists_the_trusted_types():
    page = Path(__file__).resolve().parents[1] / "doc/user_guide/saving.rst"
    row = re.compile(
        r"^   \* - ``([\w.]+)``\n     - (.*?)(?=^   \* - |^\S)", re.MULTILINE | re.DOTALL
    )
    listed = [
        f"{module}.{name}"
        for module, text in row.findall(page.read_text())
        for name in re.findall(r"``(\w+)``", text)
    ]
    assert sorted(listed) == sorted(trusted_types())


@pytest.mark.parametrize("name", WARM)
def test_loaded_models_go_on_from_where_they_were(name):
    model, X, y = fitted(name)
    own = OWN_TYPES if "structure" in name else []
    loaded, _ = through_a_file(model, own)
    expected, found = (m.set_params(tol=0.05).fit(X, y) for m in (model, loaded))
    assert_same(answers(found, X), answers(expected, X))
    assert found.n_oracle_calls_ == expected.n_oracle_calls_
    assert found.dual_objective_ == expected.dual_objective_


def test_types_that_are_not_trusted_are_refused():
    X, y = CASES["classifier"][1]()
    for kernel, name in ((rbf_kernel, "sklearn.metrics.pairwise.rbf_kernel"), (own_kernel, None)):
        model = StructSVMClassifier(kernel=kernel, tol=0.3, random_state=0).fit(X, y)
        name = name or f"{own_kernel.__module__}.own_kernel"
        data = io.dumps(model)
        with pytest.raises(TypeError, match=f"Untrusted types.*{name}"):
            io.loads(data, trusted=trusted_types())
        with pytest.raises(TypeError, match="Untrusted types.*sskit.StructSVMClassifier"):
            io.loads(data)
        if kernel is rbf_kernel:
            loaded = io.loads(data, trusted=[*trusted_types(), name])
            np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    data = io.dumps(clone(CASES["tagger"][0]).set_params(warm_start=True).fit(*make_chains()))
    message = "core.Fingerprint', 'sskit.estimators.WarmStart', 'sskit.solvers.DualPoint'"
    with pytest.raises(TypeError, match=f"Untrusted types.*{message}"):
        io.loads(data, trusted=trusted_types())


def own_kernel(X, Y):
    return X @ Y.T


@pytest.mark.parametrize("name", PATHS)
def test_pickles_of_paths(name):
    model, X, _ = fitted(name)
    assert_same(answers(pickle.loads(pickle.dumps(model)), X), answers(model, X))
