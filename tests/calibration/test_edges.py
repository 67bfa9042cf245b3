"""Calibrated taggers whose edges have features, against enumeration."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sskit import CalibratedTagger, SequenceTagger
from sskit.calibration import possible_labels, scores_of
from sskit.metrics import spans
from sskit.models.calibration.likelihood import METHODS, Target, joined, parted
from sskit.models.calibration.scores import Calibration

TAGS = np.array(["B-X", "I-X", "O"])


def tagged(n=40, seed=0, longest=6, kind=np.asarray):
    """Pairs whose edges tell which of two random tables made the labels."""
    rng = np.random.default_rng(seed)
    tables = np.random.default_rng(9).dirichlet(np.full(3, 0.5), size=(2, 3))
    X, y = [], []
    for _ in range(n):
        T = int(rng.integers(1, longest + 1))
        z = rng.integers(2, size=T - 1)
        labels = [int(rng.integers(3))]
        for t in z:
            labels.append(int(rng.choice(3, p=tables[t, labels[-1]])))
        x = 0.7 * np.eye(3)[labels] + 0.7 * rng.normal(size=(T, 3))
        X.append((x, kind(np.eye(2)[z] + 0.3 * rng.normal(size=(T - 1, 2)))))
        y.append(TAGS[labels])
    return X, y


def dense(pair):
    """Features of tokens and edges as arrays."""
    return [x.toarray() if hasattr(x, "toarray") else x for x in pair]


def labellings(model, pair):
    """Return all labellings of a sequence and p of each."""
    c, (x, z) = model.calibration_, dense(pair)
    labels = np.array(list(itertools.product(range(3), repeat=len(x))))
    member = model.estimator_
    nodes = x @ member.coef_.T
    nodes = nodes @ c["coef"].T if c["coef"].ndim == 2 else nodes * c["coef"]
    nodes = nodes + c["bias"]
    nodes[0] += c["pairs"] * member.start_ + c["start"]
    nodes[-1] += c["pairs"] * member.end_ + c["end"]
    scores = nodes[np.arange(len(x)), labels].sum(axis=1)
    for t, row in enumerate(z):
        table = c["pairs"] * (member.transitions_ + np.tensordot(row, member.edge_coef_, 1))
        table = table + c["transitions"][0]
        if member.allowed_transitions_ is not None:
            table[~member.allowed_transitions_] = -np.inf
        scores += table[labels[:, t], labels[:, t + 1]]
    if member.allowed_start_ is not None:
        scores[~member.allowed_start_[labels[:, 0]]] = -np.inf
    return labels, np.exp(scores - logsumexp(scores))


def with_params(model, **params):
    """A fitted copy with other parameters."""
    return pickle.loads(pickle.dumps(model)).set_params(**params)


X_NEW = tagged(8, seed=1, longest=4)[0]


@pytest.fixture(scope="module", params=METHODS)
def model(request):
    return CalibratedTagger(SequenceTagger(random_state=0), method=request.param).fit(*tagged())


def test_probabilities(model):
    marginals, log_p = model.predict_proba(X_NEW), model.predict_log_proba(X_NEW)
    for pair, found, logs in zip(X_NEW, marginals, log_p, strict=True):
        labels, p = labellings(model, pair)
        wanted = np.array([np.bincount(row, p, minlength=3) for row in labels.T])
        np.testing.assert_allclose(found, wanted, rtol=1e-8)
        np.testing.assert_allclose(logs, np.log(wanted), rtol=1e-7, atol=1e-12)
        every = model.confidence([pair] * len(p), list(TAGS[labels]))
        np.testing.assert_allclose(every, p, rtol=1e-8)
    threads = with_params(model, n_jobs=2).predict_proba(X_NEW)
    for some, others in zip(threads, marginals, strict=True):
        np.testing.assert_array_equal(some, others)


def test_edges_matter(model):
    (x, z) = next(pair for pair in X_NEW if len(pair[0]) == 4)
    one, other = model.predict_proba([(x, z), (x, 0.0 * z)])
    assert np.abs(one - other).max() > 0.01


def test_what_is_known(model):
    for pair in X_NEW[::2]:
        labels, p = labellings(model, pair)
        T = labels.shape[1]
        known = [None] * T
        known[-1] = {"B-X", "O"}
        agrees = np.isin(labels[:, -1], (0, 2))
        q = np.where(agrees, p, 0.0) / p[agrees].sum()
        (found,) = model.predict_proba([pair], known=[known])
        wanted = [np.bincount(row, q, minlength=3) for row in labels.T]
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-15)
        np.testing.assert_allclose(model.confidence([pair], [known]), p[agrees].sum())
        assert (model.sample([pair], 20, random_state=0, known=[known])[0][:, -1] != "I-X").all()
        for risk in (None, "labelling", "tokens"):
            (predicted,) = with_params(model, risk=risk).predict([pair], known=[known])
            assert predicted[-1] != "I-X", risk


def test_spans(model):
    for pair in X_NEW[::2]:
        labels, p = labellings(model, pair)
        described = [set(spans(row)) for row in TAGS[labels]]
        total = {}
        for some, value in zip(described, p, strict=True):
            for span in some:
                total[span] = total.get(span, 0.0) + value
        for row in TAGS[labels][:: max(len(labels) // 8, 1)]:
            (found,) = model.span_confidence([pair], [row])
            assert [span[:3] for span in found] == spans(row)
            np.testing.assert_allclose(
                [span[3] for span in found], [total[tuple(span[:3])] for span in found], atol=1e-10
            )


def test_risks_and_samples(model):
    tokens, single = with_params(model, risk="tokens"), with_params(model, risk="labelling")
    drawn = model.sample(X_NEW, 2000, random_state=0)
    for pair, p, some in zip(X_NEW, model.predict_proba(X_NEW), drawn, strict=True):
        np.testing.assert_array_equal(tokens.predict([pair])[0], TAGS[p.argmax(axis=1)])
        np.testing.assert_allclose((some[:, :, None] == TAGS).mean(axis=0), p, atol=0.06)
        labels, q = labellings(single, pair)
        np.testing.assert_array_equal(single.predict([pair])[0], TAGS[labels[q.argmax()]])
        (wanted,) = single.estimator_.predict([pair])
        np.testing.assert_array_equal(with_params(single, risk=None).predict([pair])[0], wanted)
        # neighbours are drawn together
        if len(p) > 1:
            labels, q = labellings(model, pair)
            same = q[labels[:, 0] == labels[:, 1]].sum()
            assert abs((some[:, 0] == some[:, 1]).mean() - same) < 0.06


def test_the_gradient():
    X, y = tagged(6)
    tagger = SequenceTagger(random_state=0).fit(X, y)
    # labels that the tagger does not know lie between those that it does
    classes = np.array(["B-X", "C", "I-X", "O"])
    scores = scores_of(tagger, X, classes)
    hidden = [labels.tolist() for labels in y]
    partly = [[None, *labels[1:-1], {"O", "B-X"}][: len(labels)] for labels in hidden]
    for truth in (hidden, partly):
        possible = possible_labels(truth, scores, classes, None)
        target = Target(scores, possible, np.arange(6.0))
        plain = Calibration.scaled(2.0, 4, 1)._replace(coef=2.0 * np.eye(4))
        theta = joined(plain)
        theta = theta + 0.1 * np.random.default_rng(0).normal(size=len(theta))
        value, slope = target.evaluate(parted(theta, 4, 1))
        gradient = joined(slope)
        for k in {20, *range(0, len(theta), max(len(theta) // 12, 1))}:
            step = np.zeros(len(theta))
            step[k] = 1e-5
            up = target.evaluate(parted(theta + step, 4, 1))[0]
            down = target.evaluate(parted(theta - step, 4, 1))[0]
            assert abs((up - down) / 2e-5 - gradient[k]) < 1e-6 * max(1.0, abs(value))


def test_prefit_sparse_rules_one_model_and_empty_sequences():
    X, y = tagged(30, kind=csr_array)
    rules = {"allowed_transitions": "bio", "on_violation": "repair"}
    tagger = SequenceTagger(**rules, tol=1e-3, random_state=0)
    with pytest.warns(UserWarning, match="were changed"):
        tagger.fit(X, y)
    repaired = tagger.predict(X)
    empty = np.empty((0, 3)), csr_array((0, 2))
    models = [
        CalibratedTagger(tagger, cv="prefit").fit([*X, empty], [*repaired, []]),
        CalibratedTagger(tagger, cv=2).fit(X, repaired),
    ]
    new = tagged(4, seed=2, longest=4, kind=csr_array)[0]
    for model in models:
        given = [empty, new[0], empty, *new[1:]]
        found = model.predict_proba(given)
        assert [p.shape for p in found] == [(x.shape[0], 3) for x, _ in given]
        for pair, p in zip(given, found, strict=True):
            if len(p):
                labels, q = labellings(model, pair)
                wanted = [np.bincount(row, q, minlength=3) for row in labels.T]
                np.testing.assert_allclose(p, wanted, rtol=1e-8, atol=1e-14)
                (row,) = with_params(model, risk="labelling").predict([pair])
                np.testing.assert_array_equal(row, TAGS[labels[q.argmax()]])
        every = [labels.tolist() for labels in model.predict(given)]
        assert model.confidence(given, every)[0] == 1.0
        assert model.span_confidence(given)[2] == []
        assert model.predict_proba([empty])[0].shape == (0, 3)
    log_p = np.log(models[0].confidence(X, repaired))
    assert abs(log_p.sum() / 31 - models[0].log_likelihood_) < 1e-9


def test_features_of_edges_where_the_fit_had_none_are_refused(model):
    with pytest.raises(ValueError, match="no features of edges, but this SequenceTagger"):
        model.predict_proba([x for x, _ in X_NEW])
