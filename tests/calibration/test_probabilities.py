"""Probabilities of sequences and trees are those of the enumeration."""

import copy
import pickle
from contextlib import nullcontext
from functools import cache, partial
from unittest import mock

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.labellings import dense, owners, score_labellings
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sskit import CalibratedTagger, SequenceTagger, TreeTagger
from sskit.calibration import tagger as calibrated_tagger
from sskit.calibration.posterior import possible_labels, scores_of
from sskit.metrics import spans
from sskit.models.calibration.likelihood import METHODS, Target, as_calibration, as_vector
from sskit.models.calibration.scores import Calibration

TAGS = np.array(["B-X", "I-X", "O"])
STATES = {"I-X": 2, "O": 2}


def tagged(n=40, seed=0, longest=6, edges=False):
    """Sequences whose labels depend on the two before them, with features of edges or without."""
    rng = np.random.default_rng(seed)
    tables = np.random.default_rng(9).dirichlet(np.full(3, 0.4), size=(3, 3))
    X, y = [], []
    for _ in range(n):
        T = int(rng.integers(1, longest + 1))
        labels = rng.integers(3, size=2).tolist()
        for _ in range(T - 2):
            labels.append(int(rng.choice(3, p=tables[labels[-2], labels[-1]])))
        labels = labels[:T]
        x = 0.7 * np.eye(3)[labels] + 0.7 * rng.normal(size=(T, 3))
        if edges:
            z = rng.normal(size=(T - 1, 2)) + np.array(labels[1:])[:, None]
            x = (csr_array(x), csr_array(z)) if edges == "sparse" else (x, z)
        X.append(x)
        y.append(TAGS[labels])
    return X, y


def forest(n=40, seed=0, longest=4):
    """Trees with two kinds of edges, and labels of their nodes."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        V = int(rng.integers(1, longest + 1))
        parents = [-1] + [int(rng.integers(v)) if rng.random() < 0.8 else -1 for v in range(1, V)]
        labels = TAGS[rng.integers(3, size=V)]
        x = 1.0 * (labels[:, None] == TAGS) + rng.normal(size=(V, 3))
        X.append((x, parents, rng.choice(["p", "q"], size=V)))
        y.append(labels)
    return X, y


def calibrated(model):
    """A copy of the tagger whose weights are the calibrated ones.

    Those of a further feature, a constant, are the bias of each state.
    """
    c, member = model.calibration_, copy.copy(model.estimator_)
    owner, coef = owners(member), c["coef"]
    if coef.ndim == 2:
        # of its own label a state has its own score, of the others the mean over their states
        mean = (owner == np.arange(3)[:, None]) / np.bincount(owner)[:, None]
        mixed = [
            np.where((np.arange(3) == k)[:, None], own, mean)
            for k, own in zip(owner, np.eye(len(owner)), strict=True)
        ]
        scale = np.array([coef[k] @ rows for k, rows in zip(owner, mixed, strict=True)])
    else:
        scale = np.diag(coef[owner] if coef.ndim else np.full(len(owner), coef))
    member.coef_ = np.column_stack([scale @ member.coef_, c["bias"][owner]])
    of_states = c["transitions"][:, owner][:, :, owner]
    if isinstance(member, TreeTagger):  # which has no calibration of its roots and leaves
        member.root_, member.leaf_ = scale @ member.root_, scale @ member.leaf_
        member.transitions_ = c["pairs"] * member.transitions_ + of_states
        return member
    for name in {"transitions_", "start_", "end_", "edge_coef_", "triples_"} & {*vars(member)}:
        setattr(member, name, c["pairs"] * getattr(member, name))
    member.transitions_ = member.transitions_ + of_states[0]
    member.start_, member.end_ = member.start_ + c["start"][owner], member.end_ + c["end"][owner]
    if member.allowed_transitions_ is not None:
        member.transitions_[~member.allowed_transitions_[np.ix_(owner, owner)]] = -np.inf
        member.start_[~member.allowed_start_[owner]] = -np.inf
    return member


def labellings(model, item):
    """Return all labellings of an item and p of each."""
    x, *rest = item if isinstance(item, tuple) else (item,)
    x = np.column_stack([dense(x), np.ones(x.shape[0])])
    labels, scores = score_labellings(calibrated(model), (x, *rest), np.logaddexp)
    return labels, np.exp(scores - logsumexp(scores))


def with_params(model, **params):
    """A fitted copy with other parameters."""
    return pickle.loads(pickle.dumps(model)).set_params(**params)


CASES = {
    "plain": {},
    "rules": {"allowed_transitions": "bio", "on_violation": "repair"},
    "edges": {"edges": True},
    "edges, sparse": {"edges": "sparse", "tol": 0.5},
    "trees": {"trees": True},
    "trees, states": {"trees": True, "n_states_per_label": STATES},
    "order": {"order": 2},
    "states": {"n_states_per_label": STATES},
    "order and edges": {"order": 2, "edges": True},
    "order and rules": {"order": 2, "allowed_transitions": "bio", "on_violation": "repair"},
    "all": {
        "order": 2, "edges": True, "n_states_per_label": STATES, "allowed_transitions": "bio",
        "on_violation": "repair",
    },
}  # fmt: skip


@cache
def fitted(case, method):
    """Return a calibrated tagger, and items for it."""
    params = dict(CASES[case])
    edges, trees = params.pop("edges", False), params.pop("trees", False)
    data = forest if trees else partial(tagged, edges=edges)
    tagger = (TreeTagger if trees else SequenceTagger)(**{"random_state": 0, "tol": 0.1} | params)
    model = CalibratedTagger(tagger, method=method, cv=2)
    return model.fit(*data(40)), data(6, 1, 4)[0]


# labels with hidden states are not trained by the likelihood
PAIRS = in_turn(CASES, METHODS[:2], 1)
PAIRS += [(case, method) for case in ("plain", "edges") for method in METHODS[1:]]


@pytest.fixture(scope="module", params=sorted(set(PAIRS)), ids="-".join)
def given(request):
    return fitted(*request.param)


@pytest.mark.filterwarnings("ignore:.*were changed")
@pytest.mark.filterwarnings("ignore:.*did not converge")
class TestAgainstEnumeration:
    def test_probabilities(self, given):
        model, X = given
        marginals, log_p = model.predict_proba(X), model.predict_log_proba(X)
        for item, found, logs in zip(X, marginals, log_p, strict=True):
            labels, p = labellings(model, item)
            wanted = np.array([np.bincount(row, p, minlength=3) for row in labels.T])
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-15)
            np.testing.assert_allclose(np.exp(logs), wanted, rtol=1e-8, atol=1e-15)
            every = model.confidence([item] * len(p), list(TAGS[labels]))
            np.testing.assert_allclose(every, p, rtol=1e-8, atol=1e-15)
            (alone,) = model.predict_proba([item])
            np.testing.assert_allclose(alone, found, rtol=1e-12, atol=1e-15)
        threads = with_params(model, n_jobs=2).predict_proba(X)
        for some, others in zip(threads, marginals, strict=True):
            np.testing.assert_array_equal(some, others)

    def test_what_is_known(self, given):
        model, X = given
        for item in X[::2]:
            labels, p = labellings(model, item)
            known = [None] * labels.shape[1]
            known[-1] = {"I-X", "O"}
            agrees = labels[:, -1] != 0
            np.testing.assert_allclose(model.confidence([item], [known]), p[agrees].sum())
            if p[agrees].sum() > 0:
                q = np.where(agrees, p, 0.0) / p[agrees].sum()
                (found,) = model.predict_proba([item], known=[known])
                wanted = [np.bincount(row, q, minlength=3) for row in labels.T]
                np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-15)
                for risk in (None, "tokens"):
                    (row,) = with_params(model, risk=risk).predict([item], known=[known])
                    assert row[-1] != "B-X", risk

    def test_spans(self, given):
        model, X = given
        if isinstance(model.estimator_, TreeTagger):
            with pytest.raises(ValueError, match="spans are those of sequences"):
                model.span_confidence(X)
            return
        for item in X[::2]:
            labels, p = labellings(model, item)
            described = [set(spans(row)) for row in TAGS[labels]]
            total = {}
            for some, value in zip(described, p, strict=True):
                for span in some:
                    total[span] = total.get(span, 0.0) + value
            for row in TAGS[labels][:: max(len(labels) // 8, 1)]:
                (found,) = model.span_confidence([item], [row])
                assert [span[:3] for span in found] == spans(row)
                wanted = [total[tuple(span[:3])] for span in found]
                np.testing.assert_allclose([span[3] for span in found], wanted, atol=1e-10)

    def test_samples(self, given):
        model, X = given
        drawn = model.sample(X, 2000, random_state=0)
        for item, some in zip(X, drawn, strict=True):
            labels, p = labellings(model, item)
            place = np.searchsorted(TAGS, some) @ 3 ** np.arange(labels.shape[1])[::-1]
            fraction = np.bincount(place, minlength=len(p)) / len(some)
            assert np.abs(fraction - p).max() < 0.06
            assert (p[fraction > 0] > 0).all()

    def test_risks(self, given):
        model, X = given
        tokens = with_params(model, risk="tokens")
        tagger = model.estimator_
        for item, p in zip(X, model.predict_proba(X), strict=True):
            np.testing.assert_array_equal(tokens.predict([item])[0], TAGS[p.argmax(axis=1)])
            np.testing.assert_array_equal(model.predict([item])[0], tagger.predict([item])[0])
            if not hasattr(tagger, "n_states_"):
                labels, q = labellings(model, item)
                (row,) = with_params(model, risk="labelling").predict([item])
                np.testing.assert_array_equal(row, TAGS[labels[q.argmax()]])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:.*were changed")
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_the_likelihood_and_its_gradient(case):
    model, X = fitted(case, "matrix")
    tagger = model.estimator_
    y = [labels.tolist() for labels in tagger.predict(X)]
    prefit = CalibratedTagger(tagger, method="matrix", cv="prefit")
    prefit.fit(X, y, sample_weight=np.arange(6.0))
    log_p = []
    for x, labels in zip(X, y, strict=True):
        every, p = labellings(prefit, x)
        log_p.append(np.log(p[(TAGS[every] == labels).all(axis=1)][0]))
    assert abs(np.average(log_p, weights=np.arange(6.0)) - prefit.log_likelihood_) < 1e-9
    # labels that the tagger does not know lie between those that it does
    classes = np.array(["B-X", "C", "I-X", "O"])
    scores = scores_of(tagger, X, classes)
    partly = [[None, *labels[1:-1], {"O", "B-X"}][: len(labels)] for labels in y]
    n_kinds = 2 if CASES[case].get("trees") else 1
    for truth in (y, partly):
        possible = possible_labels(truth, scores, classes, None)
        target = Target(scores, possible, np.arange(6.0))
        plain = Calibration.scaled(2.0, 4, n_kinds)._replace(coef=2.0 * np.eye(4))
        theta = as_vector(plain)
        theta = theta + 0.1 * np.random.default_rng(0).normal(size=len(theta))
        value, slope = target.evaluate(as_calibration(theta, 4, n_kinds))
        gradient = as_vector(slope)
        for k in {20, *range(0, len(theta), max(len(theta) // 12, 1))}:
            step = np.zeros(len(theta))
            step[k] = 1e-5
            up = target.evaluate(as_calibration(theta + step, 4, n_kinds))[0]
            down = target.evaluate(as_calibration(theta - step, 4, n_kinds))[0]
            assert abs((up - down) / 2e-5 - gradient[k]) < 1e-6 * max(1.0, abs(value))


@pytest.mark.parametrize("method", METHODS)
def test_a_request_of_one_sequence_has_the_same_probabilities(method):
    """Those of one factor are found without the objects of a request."""
    X, y = tagged(40)
    X = [[{"a": float(row[0]), "sign": row[1] > 0} for row in x] for x in X]
    model = CalibratedTagger(SequenceTagger(random_state=0, tol=0.1), method=method, cv=2).fit(X, y)
    fast = method != "matrix"
    unused = mock.patch.object(calibrated_tagger, "posterior_of", side_effect=AssertionError)
    for x, p in zip(X, model.predict_proba(X), strict=True):
        with unused if fast else nullcontext():
            (alone,) = model.predict_proba([x])
        np.testing.assert_allclose(alone, p, rtol=1e-12, atol=1e-15)
        assert alone.shape == (len(x), 3)
    assert model.predict_proba([[]])[0].shape == (0, 3)
    with pytest.raises(ValueError, match="too large"):
        model.predict_proba([[{"a": 1e300}]])
    damaged = pickle.loads(pickle.dumps(model))
    damaged.estimator_.coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="coef_"):
        damaged.predict_proba([[{"a": 1.0}]])


def test_the_most_probable_labelling_of_hidden_states_is_refused():
    """In a fit too: test_combinations.py."""
    model = with_params(fitted("states", "matrix")[0], risk="labelling")
    with pytest.raises(ValueError, match=r"risk='labelling' .* NP-hard"):
        model.predict(tagged()[0])


@pytest.mark.filterwarnings("ignore:.*were changed")
def test_what_the_rules_leave_nothing_of_is_named():
    model, X = fitted("rules", "matrix")
    known = [["I-X", *[None] * (len(X[0]) - 1)]]
    with pytest.raises(ValueError, match=r"known\[0\] leaves no labelling that the model allows"):
        model.predict_proba(X[:1], known=known)


def test_features_of_edges_are_wanted():
    model, X = fitted("edges", "matrix")
    with pytest.raises(ValueError, match="no features of edges, but this SequenceTagger"):
        model.predict_proba([x for x, _ in X])
