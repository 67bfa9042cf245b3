"""Data in parts have the optimum of the data in one piece, without a cluster too."""

import gc
import weakref
from enum import Enum
from pickle import loads
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.crossing import in_turn
from helpers.interruption import PressedStop
from helpers.objectives import bracket
from helpers.parts import CASES, CLASSES, ROWS, TAGS, TOKENS, WEIGHT, N, columns, lazy
from helpers.refusals import refused
from helpers.structures import Chains
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger, StructSVMClassifier, StructuredSVM
from sskit.preprocessing import TokenVectorizer
from sskit.solvers import BCFW, LBFGS
from sskit.utils import RaggedArray

dask = pytest.importorskip("dask")

from cloudpickle import dumps  # noqa: E402

from sskit.dask import Distributed  # noqa: E402
from sskit.dask._places import InProcess  # noqa: E402

WHOLE = SequenceTagger(tol=1e-3, random_state=0)
QUICK = {"lam": 0.3, "max_iter": 3000, "random_state": 0}


def tokens_in(n_parts=3):
    """Parts of the sequences, and of their tags."""
    return columns((TOKENS, TAGS), n_parts)


@pytest.fixture(scope="module")
def whole():
    """The fit of all sequences in one piece."""
    return clone(WHOLE).fit(TOKENS, TAGS)


def assert_same_optimum(found, expected, tol=1e-3):
    """Two certificates that bracket one optimum."""
    bracket(found, expected)
    assert found.lam_ == pytest.approx(expected.lam_, rel=1e-12)
    # what the oracles may have missed is no matter of passes
    missed = found.history_.get("inexactness", [0.0])[-1]
    assert found.dual_gap_ - missed <= tol * (found.primal_objective_ + 0.1)


# Few parts that pass through memory one after the other take many passes.
WRAPS = {"kept": (lambda value: value, 1e-3), "passing": (lazy, 0.05)}
WAYS = [("kept", False), ("passing", True), ("kept", True), ("passing", False)]


@pytest.fixture
def by_pickles(monkeypatch):
    """What places get and return is pickled, as on a cluster."""

    def call_each(self, places, method, args):
        calls = [getattr(place.local, method) for place in places]
        return [loads(dumps(call(*loads(dumps(args))))) for call in calls]

    monkeypatch.setattr(InProcess, "call_each", call_each)


@pytest.mark.parametrize(("name", "way"), in_turn(CASES, WAYS))
def test_the_optimum_is_that_of_the_data_in_one_piece(name, way, by_pickles):
    (wrap, has_prior), (estimator, *data) = way, CASES[name]
    wrap, tol = WRAPS[wrap]
    estimator = clone(estimator).set_params(lam=0.2, tol=tol, random_state=0, max_iter=5000)
    estimator.set_params(n_jobs=1 + has_prior)
    if has_prior:
        source = clone(estimator).set_params(lam=1.0, tol=0.1).fit(*data)
        estimator.set_params(prior=source)
    model = Distributed(estimator).fit(*columns(data, 5, wrap))
    whole = clone(estimator).fit(*data)
    if whole.certified_:
        assert_same_optimum(model.estimator_, whole, tol)
    assert model.estimator_.get_params().keys() == estimator.get_params().keys()
    given = {name for name in vars(whole) if name.endswith("_")}
    assert {name for name in vars(model.estimator_) if name.endswith("_")} == given


def fit_parts(estimator, n_parts=3, wrap=lambda value: value, **options):
    X, y = tokens_in(n_parts)
    return Distributed(clone(estimator), **options).fit([wrap(x) for x in X], y)


NEAR = np.random.default_rng(1).normal(size=3 * 5 + 5 * 5 + 2 * 5, scale=0.3)


def test_a_fit_is_a_function_of_the_random_state():
    fits = [fit_parts(clone(WHOLE).set_params(tol=0.05), 4, lazy).estimator_ for _ in range(2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_one_part_is_in_use_while_the_next_is_loaded():
    loaded, most = [], [0]

    def load(part):
        rows = ROWS[part].copy()
        loaded.append(weakref.ref(rows))
        most[0] = max(most[0], sum(part() is not None for part in loaded))
        return rows

    parts = [slice(k, k + 4) for k in range(0, N, 4)]
    X = [dask.delayed(load, pure=False)(part) for part in parts]
    model = StructSVMClassifier(random_state=0, tol=0.2, lam=0.5)
    gc.disable()
    model = Distributed(model).fit(X, [CLASSES[part] for part in parts])
    gc.enable()
    assert most[0] in (1, 2)
    # the summaries, the plan, the beginning; then each part for each pass
    assert len(loaded) == 2 * len(parts) + 1 + len(model.history_["time"]) * len(parts)


def test_history_clones_pickles_and_tags():
    model = fit_parts(WHOLE, 4, checkpoint_every=3)
    history, fitted = model.history_, model.estimator_
    assert {len(column) for column in history.values()} == {len(history["time"])}
    assert history["n_passes"][-1] == fitted.n_iter_
    assert (np.diff(history["dual"]) >= -1e-12).all()
    assert not history["n_bytes"].any() and not history["n_lost"].any()
    assert (history["visit_time"] + history["merge_time"] <= history["time"]).all()
    exact = history["n_passes"][history["exact"]]
    np.testing.assert_array_equal(exact, fitted.history_["n_passes"])
    assert model.n_features_in_ == 3 and model.classes_.tolist() == fitted.classes_.tolist()
    again = clone(model).set_params(estimator__tol=0.5)
    assert again.get_params()["checkpoint_every"] == 3 and again.estimator.tol == 0.5
    assert again.__sklearn_tags__().estimator_type == "sequence_tagger"
    assert not hasattr(Distributed(StructuredSVM(Chains(3))), "decision_function")
    assert "Distributed" in model._repr_html_()


def test_empty_parts(whole):
    X, y = tokens_in(2)
    model = Distributed(WHOLE).fit([[], X[0], [], X[1]], [[], y[0], [], y[1]])
    assert_same_optimum(model.estimator_, whole)
    found = model.predict([lazy([]), lazy(X[0])])
    assert found[0].compute() == [] and len(found[1].compute()) == 10


def test_tokens_are_to_be_made_rows_before():
    tokens, tags = [[{"w": "a"}, {"w": "b"}]] * 4, [["x", "y"]] * 4
    with pytest.raises(ValueError, match="^part 0: X has tokens .*preprocessing.TokenVectorizer"):
        Distributed(WHOLE).fit([tokens, tokens], [tags, tags])
    rows = TokenVectorizer().fit_transform(tokens)
    model = Distributed(WHOLE).fit([rows, rows], [tags, tags])
    assert model.estimator_.predict(rows)[0].tolist() == ["x", "y"]


def assert_lazy_is_at_once(model, method, X, at_once, *data):
    """A method of a collection computes what it returns of the data in one piece."""
    found = getattr(model, method)(X, *data).compute()
    for one, other in zip(found, getattr(model.estimator_, method)(*at_once), strict=True):
        np.testing.assert_array_equal(one, other)


def cut(column):
    """Return a bag of a list, and a Dask array of an array."""
    import dask.array
    import dask.bag

    if isinstance(column, list):
        return dask.bag.from_sequence(column, npartitions=3)
    return dask.array.from_array(column, chunks=7)


@pytest.mark.parametrize("kind", ["bags", "arrays"])
def test_collections(kind):
    data = (TOKENS, TAGS, WEIGHT.tolist()) if kind == "bags" else (ROWS, CLASSES, WEIGHT)
    X, y, weight = map(cut, data)
    estimator = WHOLE if kind == "bags" else StructSVMClassifier(tol=1e-3, random_state=0)
    model = Distributed(estimator).fit(X, y, weight)
    assert_same_optimum(model.estimator_, clone(estimator).fit(*data))
    with dask.config.set(scheduler="synchronous"):
        assert_lazy_is_at_once(model, "predict", X, [data[0]])
        score = model.score(X, y, weight).compute()
        assert score == pytest.approx(model.estimator_.score(*data), rel=1e-12)
        if kind == "bags":
            assert_lazy_is_at_once(model, "predict_topk", X, [TOKENS, 2], 2)
            known = [[TAGS[0][0], *[None] * (len(tokens) - 1)] for tokens in TOKENS]
            assert all(labels[0] == TAGS[0][0] for labels in model.predict(TOKENS, known=known))
        else:
            assert_lazy_is_at_once(model, "decision_function", X, [ROWS])
            found, at_once = model.predict(X), model.predict(ROWS)
            assert found.chunks[0] == (7, 7, 6) and found.dtype == at_once.dtype
            # lengths that are not known
            assert_lazy_is_at_once(model, "predict", X[X[:, 0] > 0], [ROWS[ROWS[:, 0] > 0]])


class Kind(str, Enum):
    BX, BYY, IX, IYY, O = "B-x", "B-yy", "I-x", "I-yy", "O"  # noqa: E741


def test_labels_of_unusual_kinds_in_parts():
    X, y = tokens_in()
    strings = [[[str(tag) for tag in tags] for tags in part] for part in y]
    members = [[[Kind(tag) for tag in tags] for tags in part] for part in strings]
    fits = [Distributed(WHOLE).fit(X, given) for given in (strings, members)]
    np.testing.assert_array_equal(fits[1].estimator_.coef_, fits[0].estimator_.coef_)
    assert fits[1].classes_.tolist() == ["B-x", "B-yy", "I-x", "I-yy", "O"]
    # one part has labels that are kept as objects
    long = [["x" * 100 if tag == "O" else tag for tag in tags] for tags in strings[0]]
    mixed = Distributed(WHOLE).fit(X, [long, *strings[1:]])
    assert mixed.classes_.dtype == object and mixed.classes_[-1] == "x" * 100
    # and one labels that are ignored in scores
    model, one = Distributed(WHOLE), clone(WHOLE).set_params(ignore_label=-100).fit(TOKENS, TAGS)
    model.estimator_, model.classes_ = one, one.classes_
    hidden = [strings[0], *([[-100, *labels[1:]] for labels in part] for part in members[1:])]
    with dask.config.set(scheduler="synchronous"):
        score = model.score(X, hidden).compute()
    assert score == pytest.approx(one.score(TOKENS, sum(hidden, [])), rel=1e-12)


def test_names_that_no_part_has_are_told_once():
    X, y = tokens_in()
    named = clone(WHOLE).set_params(class_weight={"O": 2.0, "B": 3.0})
    with pytest.warns(UserWarning, match="no labels in y, 'B', and none for the") as caught:
        Distributed(named).fit(X, y)
    assert len(caught) == 1
    weights = dict.fromkeys(["B-x", "B-yy", "I-x", "I-yy", "O", "B-z"], 2.0)
    Distributed(named.set_params(class_weight=weights)).fit(X, y)


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    table = pandas.DataFrame(ROWS, columns=list("abcd"))
    X, y = (frames.from_pandas(data, npartitions=3) for data in (table, pandas.Series(CLASSES)))
    model = Distributed(StructSVMClassifier(tol=1e-3, random_state=0)).fit(X, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert_same_optimum(model.estimator_, clone(model.estimator).fit(table, CLASSES))


def test_warm_start_goes_on(whole):
    X, y = tokens_in()
    model = Distributed(SequenceTagger(tol=0.1, random_state=0, warm_start=True))
    before = model.fit(X, y).estimator_.dual_objective_
    model.set_params(estimator__tol=1e-3).fit([lazy(x) for x in X], y)
    assert model.history_["dual"][0] >= before - 1e-12
    assert_same_optimum(model.estimator_, whole)
    again = model.fit(X, y).estimator_
    assert again.n_iter_ == 0 and again.certified_
    # at another lam, and with a part more
    model.set_params(estimator__lam=0.5).fit([*X, X[0]], [*y, y[0]])
    expected = SequenceTagger(0.5, tol=1e-3).fit(TOKENS + X[0], TAGS + y[0])
    assert_same_optimum(model.estimator_, expected)
    # near other weights
    for prior in (NEAR, -NEAR, None):
        model.set_params(estimator__prior=prior).fit(X, y)
        expected = SequenceTagger(0.5, tol=1e-3, prior=prior).fit(TOKENS, TAGS)
        assert_same_optimum(model.estimator_, expected)
    with pytest.raises(ValueError, match="^prior"):
        model.set_params(estimator__prior=np.ones(3)).fit(X, y)
    changed = [x + (x is X[1][2]) for x in X[1]]
    with pytest.raises(ValueError, match=r"^part 1: warm_start=True .*, because X\[2\] changed"):
        model.set_params(estimator__prior=None).fit([X[0], changed], y[:2])


@pytest.mark.usefixtures("own_handler")
@pytest.mark.parametrize("solver", [BCFW(max_time=0.2), LBFGS(max_time=0.2)])
def test_stops(solver, monkeypatch):
    X, y = tokens_in()
    X, log = [lazy(x) for x in X], isinstance(solver, LBFGS)
    tagger = SequenceTagger(tol=0, random_state=0, surrogate="log" if log else "hinge")
    model = Distributed(clone(tagger).set_params(solver=solver))
    with pytest.warns(ConvergenceWarning, match="maximum time was reached"):
        found = model.fit(X, y).estimator_
    assert found.certified_
    bracket(found, tagger.set_params(tol=1e-4).fit(TOKENS, TAGS))
    model.set_params(estimator__solver="auto")
    for moments, certified in [((30,), True), ((30, 30), False)][: 2 - log]:
        stop = PressedStop(*moments)
        monkeypatch.setattr("sskit.dask._distributed.Stop", lambda max_time, stop=stop: stop)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model.fit(X, y)
        assert model.estimator_.certified_ == certified
        assert np.isfinite(model.estimator_.coef_).all()


def test_a_callback_sees_the_weights_of_the_moment(monkeypatch):
    seen = []

    def watched(estimator):
        model = clone(estimator)
        model._watch = SimpleNamespace(on_pass=on_pass)
        return model

    def on_pass(n_iter, attributes):
        seen.append(attributes()["coef_"].copy())
        return n_iter == 3

    monkeypatch.setattr("sskit.dask._distributed.clone", watched)
    model = fit_parts(SequenceTagger(tol=0, random_state=0))
    assert len(seen) == 3
    np.testing.assert_allclose(seen[-1], model.estimator_.coef_, rtol=1e-9, atol=1e-12)


LISTS = tokens_in(2)


def test_bad_input():
    def second(X=TOKENS[10:], y=TAGS[10:]):
        return [TOKENS[:10], X], [TAGS[:10], y]

    def in_chunks(of_rows, of_classes):
        return cut(ROWS).rechunk(of_rows), cut(CLASSES).rechunk((of_classes,))

    of_rows, averaged = StructSVMClassifier(), SequenceTagger(solver=BCFW(averaging=True))
    spoilt, narrow = [TOKENS[10], TOKENS[11] * np.nan], [x[:, :2] for x in TOKENS[10:]]
    for estimator, options, data, error, message in [
        (SequenceTagger, {}, LISTS, TypeError, "got the class SequenceTagger"),
        (WHOLE, {"timeout": 0}, LISTS, ValueError, "'timeout'"),
        (WHOLE, {"checkpoint_every": 0}, LISTS, ValueError, "'checkpoint_every'"),
        (WHOLE, {"checkpoint": 3}, LISTS, ValueError, "'checkpoint'"),
        (SequenceTagger(tol=-1), {}, LISTS, ValueError, "'tol'"),
        (SequenceTagger(solver="gdmm"), {}, LISTS, ValueError, "no dual point; use"),
        (SequenceTagger(kernel="rbf"), {}, LISTS, ValueError, "combined with kernel='rbf'"),
        (averaged, {}, LISTS, ValueError, "data in parts cannot be combined with averaging=True"),
        (of_rows, {}, in_chunks((10, 2), 10), ValueError,
         "^X must be cut along its first axis only, got chunks"),
        (of_rows, {}, in_chunks((10, 4), (12, 8)), ValueError,
         "^part 0: X has 10 samples but y has 12$"),
        (WHOLE, {}, (ROWS, CLASSES), TypeError, "X must be a Dask collection or a list"),
        (WHOLE, {}, ([], []), ValueError, "^X has no parts"),
        (WHOLE, {}, ([[], []], [[], []]), ValueError, "^all parts are empty"),
        (WHOLE, {}, (LISTS[0], LISTS[1][:1]), ValueError, "^X has 2 parts but y has 1$"),
        (WHOLE, {}, second(y=TAGS[10:18]), ValueError, "^part 1: .*10.*8"),
        (WHOLE, {}, second(spoilt, TAGS[10:12]), ValueError, r"^part 1: .*X\[1\]"),
        (WHOLE, {}, second(narrow), ValueError, "^part 1: X has 2 features, but part 0 has 3$"),
        (WHOLE, {}, (*LISTS, [np.ones(10), -np.ones(10)]), ValueError,
         r"^part 1: sample_weight\[0\] is -1"),
    ]:  # fmt: skip
        model = Distributed(estimator, **options)
        with refused(model, error, message):
            model.fit(*data)


def test_nothing_of_the_users_is_changed(whole):
    X, y = tokens_in()
    before = [[x.copy() for x in part] for part in X]
    # nor are they to be lists
    stacked = [RaggedArray(sp.csr_array(np.vstack(x)), np.cumsum([0, *map(len, x)])) for x in X]
    for given in (X, stacked):
        assert_same_optimum(Distributed(WHOLE).fit(given, y).estimator_, whole)
    assert all(map(np.array_equal, sum(before, []), sum(X, [])))
