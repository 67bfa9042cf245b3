"""Calibrated taggers: probabilities against enumeration, and what users do with them."""

import itertools
import pickle

import numpy as np
import pytest
from helpers.ragged_checks import CHECKS
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import CalibratedTagger, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.metrics import spans
from sskit.preprocessing import TokenTransformer

TAGS = np.array(["B-X", "B-Y", "I-X", "I-Y", "O"])
METHODS = ("temperature", "matrix")


def tagged(n=40, seed=0, longest=6, tags=TAGS):
    """Sequences whose features tell of their labels, with noise."""
    rng = np.random.default_rng(seed)
    y = [tags[rng.integers(len(tags), size=rng.integers(1, longest + 1))] for _ in range(n)]
    X = [
        1.0 * (labels[:, None] == tags) + rng.normal(size=(len(labels), len(tags))) for labels in y
    ]
    return X, y


def forest(n=30, seed=0):
    """Trees with two kinds of edges, and labels of their nodes."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        V = rng.integers(1, 6)
        parents = [-1] + [int(rng.integers(v)) if rng.random() < 0.8 else -1 for v in range(1, V)]
        labels = TAGS[rng.integers(3, size=V)]
        x = 1.0 * (labels[:, None] == TAGS[:3]) + rng.normal(size=(V, 3))
        X.append((x, parents, rng.choice(["p", "q"], size=V)))
        y.append(labels)
    return X, y


def labellings(model, x):
    """Return all labellings of a sequence and p of each."""
    c, K = model.calibration_, len(model.classes_)
    labels = np.array(list(itertools.product(range(K), repeat=len(x))))
    member = model.estimator_
    nodes = x @ member.coef_.T
    nodes = nodes @ c["coef"].T if c["coef"].ndim == 2 else nodes * c["coef"]
    nodes = nodes + c["bias"]
    nodes[0] += c["pairs"] * member.start_ + c["start"]
    nodes[-1] += c["pairs"] * member.end_ + c["end"]
    table = c["pairs"] * member.transitions_ + c["transitions"][0]
    if member.allowed_transitions_ is not None:
        table = np.where(member.allowed_transitions_, table, -np.inf)
        nodes[0, ~member.allowed_start_] = -np.inf
    scores = nodes[np.arange(len(x)), labels].sum(axis=1)
    scores += table[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    return labels, np.exp(scores - logsumexp(scores))


@pytest.fixture(scope="module")
def data():
    return tagged()


@pytest.fixture(scope="module", params=METHODS)
def model(request, data):
    tagger = SequenceTagger(random_state=0)
    return CalibratedTagger(tagger, method=request.param).fit(*data)


@pytest.fixture(scope="module")
def plain(data):
    return CalibratedTagger(SequenceTagger(random_state=0), method="temperature").fit(*data)


X_NEW = tagged(6, seed=1, longest=4)[0]


def test_probabilities_against_enumeration(model):
    marginals, log_p = model.predict_proba(X_NEW), model.predict_log_proba(X_NEW)
    for x, found, logs in zip(X_NEW, marginals, log_p, strict=True):
        labels, p = labellings(model, x)
        wanted = np.array([np.bincount(labels[:, t], p, minlength=5) for t in range(len(x))])
        np.testing.assert_allclose(found, wanted, rtol=1e-8)
        np.testing.assert_allclose(logs, np.log(wanted), rtol=1e-7, atol=1e-12)
        every = model.confidence([x] * len(p), list(TAGS[labels]))
        np.testing.assert_allclose(every, p, rtol=1e-8)


def test_what_is_known_is_a_condition(model):
    for x in X_NEW:
        labels, p = labellings(model, x)
        known = [None] * len(x)
        known[0] = {"B-X", "O"}
        known[-1] = {"O"}
        agrees = np.isin(labels[:, 0], (0, 4)) & (labels[:, -1] == 4)
        q = np.where(agrees, p, 0.0) / p[agrees].sum()
        (found,) = model.predict_proba([x], known=[known])
        wanted = [np.bincount(labels[:, t], q, minlength=5) for t in range(len(x))]
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-15)
        assert abs(model.confidence([x], [known])[0] - p[agrees].sum()) < 1e-10
        drawn = model.sample([x], 50, random_state=0, known=[known])[0]
        assert (drawn[:, -1] == "O").all()
        for risk in (None, "labelling", "tokens"):
            (labels_found,) = clone_fitted(model, risk=risk).predict([x], known=[known])
            assert labels_found[-1] == "O", risk


def clone_fitted(model, **params):
    """A fitted copy with other parameters."""
    return pickle.loads(pickle.dumps(model)).set_params(**params)


def test_spans_against_enumeration(model):
    for x in X_NEW:
        labels, p = labellings(model, x)
        total = {}
        for row, value in zip(TAGS[labels], p, strict=True):
            for span in spans(row):
                total[span] = total.get(span, 0.0) + value
        for row in TAGS[labels][:: max(len(labels) // 6, 1)]:
            (found,) = model.span_confidence([x], [row])
            assert [span[:3] for span in found] == spans(row)
            for *span, value in found:
                assert abs(value - total[tuple(span)]) < 1e-10


def test_the_risk_of_tokens_and_of_labellings(model):
    tokens, best = clone_fitted(model, risk="tokens"), clone_fitted(model, risk="labelling")
    for x in X_NEW:
        found = model.predict_proba([x])[0].argmax(axis=1)
        np.testing.assert_array_equal(tokens.predict([x])[0], TAGS[found])
        labels, p = labellings(model, x)
        np.testing.assert_array_equal(best.predict([x])[0], TAGS[labels[p.argmax()]])
        np.testing.assert_array_equal(model.predict([x])[0], model.estimator_.predict([x])[0])


def test_samples_have_the_probabilities(model):
    x = X_NEW[0][:2] if len(X_NEW[0]) > 1 else X_NEW[1][:2]
    drawn = model.sample([x, x], 4000, random_state=0)
    assert drawn[0].shape == (4000, len(x))
    for labels in drawn:
        share = (labels[:, :, None] == TAGS).mean(axis=0)
        np.testing.assert_allclose(share, model.predict_proba([x])[0], atol=0.05)
    again = model.sample([x, x], 4000, random_state=0)
    np.testing.assert_array_equal(drawn[1], again[1])
    assert (drawn[0] != drawn[1]).any()


@pytest.fixture(scope="module")
def tree_tagger():
    return TreeTagger(random_state=0).fit(*forest())


@pytest.mark.parametrize("method", METHODS)
def test_trees(method, tree_tagger):
    (X, y), tagger = forest(), tree_tagger
    model = CalibratedTagger(tagger, method=method, cv="prefit").fit(X, y)
    c = model.calibration_
    for x in X[:4]:
        features, parents, kinds = x
        V = len(features)
        labels = np.array(list(itertools.product(range(3), repeat=V)))
        nodes = features @ tagger.coef_.T
        for v in range(V):
            nodes[v] += tagger.root_ * (parents[v] < 0) + tagger.leaf_ * (v not in parents)
        nodes = (nodes @ c["coef"].T if c["coef"].ndim == 2 else nodes * c["coef"]) + c["bias"]
        tables = c["pairs"] * tagger.transitions_ + c["transitions"]
        scores = nodes[np.arange(V), labels].sum(axis=1)
        for v in range(V):
            if parents[v] >= 0:
                table = tables[list(tagger.edge_kinds_).index(kinds[v])]
                scores += table[labels[:, parents[v]], labels[:, v]]
        p = np.exp(scores - logsumexp(scores))
        wanted = [np.bincount(labels[:, v], p, minlength=3) for v in range(V)]
        np.testing.assert_allclose(model.predict_proba([x])[0], wanted, rtol=1e-8)
        every = model.confidence([x] * len(p), list(model.classes_[labels]))
        np.testing.assert_allclose(every, p, rtol=1e-8)
        best = clone_fitted(model, risk="labelling").predict([x])[0]
        np.testing.assert_array_equal(best, model.classes_[labels[p.argmax()]])
        share = model.sample([x], 2000, random_state=0)[0]
        share = (share[:, :, None] == model.classes_).mean(axis=0)
        np.testing.assert_allclose(share, wanted, atol=0.06)
    known = [[{"B-X", "I-X"}] * len(x[0]) for x in X]
    for p in model.predict_proba(X, known=known):
        assert (p[:, model.classes_ == "B-Y"] == 0).all()
    with pytest.raises(ValueError, match="spans are those of sequences"):
        model.span_confidence(X)


def test_the_gradient_of_the_likelihood(data):
    from sskit.calibration import possible_labels, scores_of
    from sskit.models.calibration.likelihood import Target, joined, parted
    from sskit.models.calibration.scores import Calibration

    X, y = data
    tagger = SequenceTagger(random_state=0).fit(X, y)
    scores = scores_of(tagger, X[:6], TAGS)
    hidden = [labels.tolist() for labels in y[:6]]
    partly = [[None, *labels[1:-1], {"O", "B-X"}][: len(labels)] for labels in hidden]
    for truth in (hidden, partly):
        possible = possible_labels(truth, scores, TAGS, None)
        target = Target(scores, possible, np.arange(6.0))
        plain = Calibration.scaled(2.0, 5, 1)._replace(coef=2.0 * np.eye(5))
        theta = joined(plain)
        theta = theta + 0.1 * np.random.default_rng(0).normal(size=len(theta))
        value, slope = target.evaluate(parted(theta, 5, 1))
        gradient = joined(slope)
        for k in range(0, len(theta), max(len(theta) // 15, 1)):
            step = np.zeros(len(theta))
            step[k] = 1e-5
            up = target.evaluate(parted(theta + step, 5, 1))[0]
            down = target.evaluate(parted(theta - step, 5, 1))[0]
            assert abs((up - down) / 2e-5 - gradient[k]) < 1e-6 * max(1.0, abs(value))


def test_calibration_makes_held_out_labels_more_likely():
    X, y = tagged(60, seed=3)
    tagger = SequenceTagger(random_state=0).fit(X, y)
    X, y = tagged(200, seed=4)
    values = {}
    for method in METHODS:
        fitted = CalibratedTagger(tagger, method=method, cv="prefit").fit(X, y)
        assert fitted.estimator_ is tagger
        values[method] = fitted.log_likelihood_
        assert abs(np.log(fitted.confidence(X, y)).mean() - values[method]) < 1e-9
    assert values["temperature"] < values["matrix"]
    frozen = CalibratedTagger(FrozenEstimator(tagger)).fit(X, y)
    assert frozen.log_likelihood_ == values["matrix"]
    p = np.concatenate(list(fitted.predict_proba(X)))
    right = p.argmax(axis=1) == np.searchsorted(TAGS, np.concatenate(y))
    assert abs(p.max(axis=1).mean() - right.mean()) < 0.08


def test_sample_weights_are_copies(data):
    X, y = data
    weight = np.arange(len(X)) % 3
    copies = np.repeat(np.arange(len(X)), weight)
    tagger = SequenceTagger(random_state=0).fit(X, y)
    model = CalibratedTagger(tagger, cv="prefit", method="matrix")
    one = clone(model).set_params(estimator=tagger).fit(X, y, sample_weight=weight)
    model.fit([X[i] for i in copies], [y[i] for i in copies])
    assert abs(one.log_likelihood_ - model.log_likelihood_) < 1e-6


def test_labels_that_a_split_does_not_know(data):
    X, y = data
    y = [labels.copy() for labels in y]
    y[-1][0] = "Z"  # only one sequence has it
    model = CalibratedTagger(SequenceTagger(random_state=0), method="matrix").fit(X, y)
    assert "Z" in model.classes_
    p = np.concatenate(list(model.predict_proba(X)))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert 0 < p[:, model.classes_ == "Z"].max() < 1
    # what the models of some splits cannot say is said by that of all data
    known = [[None] * len(x) for x in X]
    known[0][0] = "Z"
    (p, *_) = model.predict_proba(X, known=known)
    assert abs(p[0, model.classes_ == "Z"] - 1.0) < 1e-12
    model.sample(X, 3, random_state=0, known=known)
    assert model.predict(X, known=known)[0][0] == "Z"


def test_rules():
    X, y = tagged()
    tagger = SequenceTagger(allowed_transitions="bio", on_violation="repair", random_state=0)
    with pytest.warns(UserWarning, match="were changed"):
        model = CalibratedTagger(tagger).fit(X, y)
    for x in X_NEW:
        labels, p = labellings(model, x)
        wanted = [np.bincount(labels[:, t], p, minlength=5) for t in range(len(x))]
        np.testing.assert_allclose(model.predict_proba([x])[0], wanted, rtol=1e-8, atol=1e-14)
        assert model.predict_proba([x])[0][0, 2] == 0.0
    with pytest.raises(ValueError, match="known"):
        model.predict_proba(X_NEW[:1], known=[["I-X"] + [None] * (len(X_NEW[0]) - 1)])


def test_pipelines_searches_and_ends():
    X, y = tagged(16)
    scaled = make_pipeline(TokenTransformer(StandardScaler()), SequenceTagger(random_state=0))
    model = CalibratedTagger(scaled, cv=KFold(2, shuffle=True, random_state=0)).fit(
        X, y, sample_weight=np.ones(len(X))
    )
    assert len(model.predict_proba(X)) == len(X)
    assert 0.2 < model.score(X, y) < 1
    search = GridSearchCV(
        CalibratedTagger(SequenceTagger(random_state=0), cv=2, method="temperature"),
        {"estimator__lam": [0.1, 1.0]},
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.2
    inner = GridSearchCV(SequenceTagger(random_state=0), {"lam": [0.1, 1.0]}, cv=2)
    model = CalibratedTagger(inner, cv=2, method="matrix").fit(X, y)
    assert model.predict_proba(X)[0].shape == (len(X[0]), 5)


def test_kernels(data):
    X, y = data
    tagger = SequenceTagger(kernel="rbf", random_state=0)
    model = CalibratedTagger(tagger, cv=2, method="temperature").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:2])[0].sum(axis=1), 1.0)


def test_empty_sequences(model):
    empty = np.empty((0, 5))
    found = model.predict_proba([empty, X_NEW[0], empty])
    assert [p.shape for p in found] == [(0, 5), (len(X_NEW[0]), 5), (0, 5)]
    np.testing.assert_array_equal(found[1], model.predict_proba(X_NEW[:1])[0])
    np.testing.assert_array_equal(model.confidence([empty], [[]]), [1.0])
    assert model.sample([empty], 2)[0].shape == (2, 0)
    assert model.predict([empty])[0].shape == (0,)
    assert model.span_confidence([empty])[0] == []


def test_threads_give_the_same(model):
    other = clone_fitted(model, n_jobs=2)
    for some, others in zip(model.predict_proba(X_NEW), other.predict_proba(X_NEW), strict=True):
        np.testing.assert_array_equal(some, others)


def test_hidden_held_out_labels_do_not_count(data):
    X, y = data
    tagger = SequenceTagger(random_state=0).fit(X, y)
    model = CalibratedTagger(tagger, cv="prefit", method="temperature").fit(X, y)
    hidden = [labels.tolist() for labels in y] + [[None] * len(X[0])]
    other = CalibratedTagger(tagger, cv="prefit", method="temperature").fit([*X, X[0]], hidden)
    assert abs(other.calibration_["pairs"] - model.calibration_["pairs"]) < 1e-3


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (StructSVMClassifier(), "SequenceTagger, a TreeTagger, .* got StructSVMClassifier"),
        (SequenceTagger, "got the class SequenceTagger"),
        (StandardScaler(), "got StandardScaler"),
    ],
)
def test_other_estimators_are_refused(estimator, message, data):
    with pytest.raises(TypeError, match=message):
        CalibratedTagger(estimator).fit(*data)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.sample(X_NEW, 0), ValueError, "n_samples must be a positive integer, got 0"),
        (lambda m: m.confidence(X_NEW, [["O"]]), ValueError, "X has 6 samples but y has 1"),
        (
            lambda m: m.predict_proba(X_NEW, known=[["Q"] * len(x) for x in X_NEW]),
            ValueError, r"known\[0\]\[0\] has 'Q'",
        ),
        (lambda m: m.predict_proba([np.ones((2, 3))]), ValueError, "features"),
        (lambda m: clone(m).predict_proba(X_NEW), ValueError, "not fitted"),
        (lambda m: clone_fitted(m, risk="x").predict(X_NEW), ValueError, "'risk' parameter"),
        (lambda m: clone_fitted(m, scheme="x").predict(X_NEW), ValueError, "'scheme' parameter"),
    ],
)  # fmt: skip
def test_errors(call, error, message, plain):
    with pytest.raises(error, match=message):
        call(plain)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ragged_checks(check):
    if check.__name__ == "check_fit_of_one_sequence":
        pytest.skip("one sequence cannot be split")
    check(CalibratedTagger(SequenceTagger(tol=0.3, random_state=0), cv=2))


def test_data_are_checked_as_a_whole(data):
    X, y = data
    X = [*X[:-1], np.full_like(X[-1], np.nan)]
    with pytest.raises(ValueError, match=rf"X\[{len(X) - 1}\]"):
        CalibratedTagger(SequenceTagger()).fit(X, y)
    with pytest.raises(ValueError, match=r"y\[0\] has 1 "):
        tagger = SequenceTagger(random_state=0).fit(*data)
        CalibratedTagger(tagger, cv="prefit").fit(data[0], [["O"], *y[1:]])


def test_bad_parameters(data):
    for params in ({"method": "x"}, {"cv": 1}, {"n_jobs": 0.5}):
        with pytest.raises(ValueError, match="parameter of CalibratedTagger"):
            CalibratedTagger(SequenceTagger(), **params).fit(*data)


def test_numbers_are_no_spans():
    X, y = tagged(12)
    y = [np.searchsorted(TAGS, labels) for labels in y]
    model = CalibratedTagger(SequenceTagger(random_state=0), cv=2).fit(X, y)
    with pytest.raises(TypeError, match="labels of spans are strings"):
        model.span_confidence(X, y)
