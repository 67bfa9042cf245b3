"""Taggers of sequences, trees and graphs against all labellings: objectives and predictions."""

import copy
from functools import cache, partial

import numpy as np
import pytest
from helpers.families import ring
from helpers.labellings import (
    losses_of,
    max_marginals,
    objective,
    owners,
    score_labellings,
    score_paths,
)
from helpers.pairwise import every_pair
from helpers.paper import follows
from helpers.trees import random_parents
from sklearn.base import clone

from sskit import GraphTagger, SegmentationModel, SegmentTagger, SequenceTagger, TreeTagger

NAMES = np.array(["a", "b", "c"])
STATES = {"a": 2, "c": 2}
COSTS = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [0.5, 1.0, 0.0]])
FACTORS = {"a": 0.5, "b": 2.0, "c": 1.25}
# after b comes b only
RULES = ~np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]], dtype=bool)
SIZES = (1, 4, 3, 2, 4, 3, 3, 4, 2, 3, 4, 3)


@cache
def data(family):
    """Items of a family, whose rows have blobs within labels, and their labels."""
    rng = np.random.default_rng(0)
    y = [rng.integers(3, size=n) for n in SIZES]
    rows = [
        np.eye(3)[k] + rng.integers(2, size=(len(k), 1)) + rng.normal(size=(len(k), 3)) for k in y
    ]
    kind, edges = family.partition(",")[0], [ring(x) for x in rows]
    features = [rng.normal(size=(len(pairs), 2)) for pairs in edges]
    given = {
        "edges": [(rng.normal(size=(len(k) - 1, 2)) + k[1:, None],) for k in y],
        "trees": [(random_parents(rng, n, n_roots=1 + (n > 3)),) for n in SIZES],
        "graphs": list(zip(edges, features, strict=True)),
        "segmentation": list(zip(edges, map(abs, features), strict=True)),
    }
    further = given.get("edges" if "edges" in family else kind, [()] * len(y))
    if "kinds" in family:
        kinds = [parents % 2 for (parents,) in further] if kind == "trees" else [
            np.where(k == 0, "left", "right") for k in y]  # fmt: skip
        further = [(*more, k) for more, k in zip(further, kinds, strict=True)]
    items = [(x, *more) if more else x for x, more in zip(rows, further, strict=True)]
    return items, [np.array(["O", "B-x", "B-y"] if kind == "segments" else NAMES)[k] for k in y]


SEQUENCES = {
    "sequences": SequenceTagger(),
    "sequences, second order": SequenceTagger(order=2),
    "sequences, edges": SequenceTagger(),
    "sequences, second order, edges": SequenceTagger(order=2),
}
TREES = {"trees": TreeTagger(), "trees, kinds": TreeTagger()}
GRAPHS = {
    "graphs": GraphTagger(),
    "graphs, symmetric": GraphTagger(pairwise_form="symmetric"),
    "graphs, Potts": GraphTagger(pairwise_form="potts"),
    "graphs, kinds": GraphTagger(),
}
CUTS = {
    "segmentation": SegmentationModel(inference="elimination"),
    "segmentation, tables": SegmentationModel(inference="elimination", pairwise_form="full"),
}
KERNELS = {"sequences, kernel": SequenceTagger(kernel="rbf", gamma=0.5)}
FAMILIES = SEQUENCES | TREES | GRAPHS | CUTS | KERNELS
SEGMENTS = {
    "segments": SegmentTagger(max_length=2),
    "segments, bare": SegmentTagger(max_length=2, first_last=False, lengths=False),
}


def make(family, states=False, **given):
    params = {"lam": 0.05, "tol": 0.02, "max_iter": 5000, "random_state": 0}
    if states:
        params["n_states_per_label"] = STATES
    return clone((FAMILIES | SEGMENTS)[family]).set_params(**params | given)


def check_objective(model, expected):
    """The certificate is that of the enumeration; rounds of completions never rise."""
    assert model.certified_
    assert model.dual_gap_ == pytest.approx(model.primal_objective_ - model.dual_objective_)
    if hasattr(model, "round_objectives_"):
        assert (np.diff(model.round_objectives_) <= 0).all()
        assert len(model.round_objectives_) == model.n_rounds_
        assert model.primal_objective_ >= model.round_objectives_[-1] - 1e-9
        assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
        assert not model.stationary_ or model.primal_objective_ == pytest.approx(expected)
    else:
        assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)


def legal(y):
    """Labels that keep to the rules."""
    y = [np.full(len(labels), labels[0]) for labels in y]
    y[1][:-1], y[1][-1] = "a", "c"
    return y


def concealed(y, how):
    """Labels of which some are not known, or one of two."""
    if how == "all":
        return y
    found = []
    for i, labels in enumerate(y):
        pairs = [{k, "b" if k == "a" else "a"} for k in labels]
        forms = {"some": ("?", 1, 2), "sets": (2, 2, 2), "hidden": (1, "?", "?")}[how]
        given = [(i + t) % 3 for t in range(len(labels))]
        found.append([
            {1: k, 2: both}.get(forms[place], "?")
            for k, both, place in zip(labels.tolist(), pairs, given, strict=True)
        ])  # fmt: skip
    return found


OPTIONS = {
    "known": ["all", "some", "sets", "hidden"],
    "states": [False, True],
    "loss": ["hamming_sum", "hamming", "costs"],
    "weights": [None, "classes", "tokens", "balanced"],
}


@every_pair(family=TREES, **OPTIONS)
def test_objectives_of_trees(family, known, states, loss, weights):
    check_tagger(family, known, states, loss, weights, None)


@every_pair(family=SEQUENCES, **OPTIONS, rules=[None, "raise", "ignore"])
def test_objectives_of_sequences(family, known, states, loss, weights, rules):
    check_tagger(family, known, states, loss, weights, rules)


def check_tagger(family, known, states, loss, weights, rules):
    """Fit a tagger to what is known of labels, and compare with enumeration."""
    items, y = data(family)
    given = {"loss": COSTS if loss == "costs" else loss}
    if rules is not None:
        y = legal(y) if rules == "raise" else y
        given |= {"allowed_transitions": RULES, "on_violation": rules}
    told = concealed(y, known)
    if known in ("some", "hidden"):
        given["ignore_label"] = "?"
    weight = np.linspace(1.0, 2.0, len(y))
    factors, tokens = None, None
    if weights == "classes":
        given["class_weight"], factors = FACTORS, list(FACTORS.values())
    elif weights == "balanced":
        given["class_weight"], counts = "balanced", np.zeros(3)
        for labels, often in zip(told, weight, strict=True):
            for label in labels:
                some = sorted(label) if isinstance(label, set) else [label]
                counts[np.isin(NAMES, some)] += often / len(some)
        factors = counts.sum() / (3 * counts)
    elif weights == "tokens":
        rng = np.random.default_rng(1)
        tokens = [rng.integers(3, size=len(labels)) / 2 for labels in y]
    model = make(family, states, **given)
    model.fit(items, told, sample_weight=weight, token_weight=tokens)
    table = COSTS if loss == "costs" else None
    losses, possible = zip(*(losses_of(k, NAMES, table, factors) for k in told), strict=True)
    if loss == "hamming":
        losses = [each / len(each) for each in losses]
    if tokens is not None:
        losses = [w[:, None] * each for w, each in zip(tokens, losses, strict=True)]
    keeps = (lambda item, labels: follows(labels, RULES)) if rules == "raise" else None
    check_objective(model, objective(model, items, losses, possible, weight, keeps))


LOSSES = ["hamming_sum", "hamming", "balanced", "costs", "function"]


@every_pair(
    family=GRAPHS | CUTS,
    states=[False, True],
    loss=LOSSES,
    ignored=[False, True],
    pairs=[False, True],
)
def test_objectives_of_graphs(family, states, loss, ignored, pairs):
    """Also where pairs of labels are not allowed, as far as a family has what is crossed."""
    if family in CUTS:
        states, loss = False, "hamming" if loss == "function" else loss
    pairs = pairs and family in ("graphs", "graphs, kinds")
    items, y = data(family)
    table, given = None, {"loss": loss}
    if loss == "costs":
        given["loss"] = table = COSTS
    elif loss == "function":
        table = (1.0 - np.eye(3)) * np.arange(1.0, 4.0)
        given["loss"] = lambda y, classes: (y[:, None] != classes) * np.arange(1.0, 4.0)
    if pairs:
        given["allowed_pairs"] = RULES
        y = [np.full(len(labels), labels[0]) for labels in y]
        y[0] = np.array(["b"])
    told, kept = y, items
    if ignored:
        # such nodes and their edges are left out
        given["ignore_label"] = "?"
        told = [np.where((np.arange(len(k)) == 1) & (len(k) > 1), "?", k) for k in y]
        kept = [without(item, np.asarray(k) != "?") for item, k in zip(items, told, strict=True)]
        y = [k[k != "?"] for k in told]
    weight = np.linspace(1.0, 2.0, len(y))
    model = make(family, states, **given)
    model.fit(items, told, sample_weight=weight)
    factors = None
    if loss == "balanced":  # equal weight for each class over all graphs
        often = np.repeat(weight, [len(labels) for labels in y])
        counts = np.bincount(np.searchsorted(NAMES, np.concatenate(y)), often, 3)
        factors = counts.sum() / (3 * counts)
    losses, possible = zip(*(losses_of(k, NAMES, table, factors) for k in y), strict=True)
    if loss in ("hamming", "balanced"):
        losses = [each / len(each) for each in losses]

    def keeps(item, labels):
        found = np.ones(len(labels), dtype=bool)
        if "kinds" in family:
            found &= model.kind_classes_[np.searchsorted(model.node_kinds_, item[3]), labels].all(1)
        if pairs:
            found &= RULES[labels[:, item[1][:, 0]], labels[:, item[1][:, 1]]].all(axis=1)
        return found

    check_objective(model, objective(model, kept, losses, possible, weight, keeps))


def without(item, kept):
    """A graph without some nodes and their edges."""
    x, edges, features, *kinds = item
    place, inside = np.cumsum(kept) - 1, kept[edges].all(axis=1)
    return x[kept], place[edges[inside]], features[inside], *(k[kept] for k in kinds)


# ---- predictions ---------------------------------------------------------------------------


@cache
def fitted(family, states, rules):
    items, y = data(family)
    given = {"allowed_transitions": RULES, "on_violation": "ignore"} if rules else {}
    return make(family, states, tol=0.1, **given).fit(items, y)


def draw(model, items, rules):
    """What is known of items, in every form, and what that allows."""
    rng, known, masks = np.random.default_rng(0), [], []
    for item in items:
        n = len(item[0]) if isinstance(item, tuple) else len(item)
        while True:
            mask = rng.random((n, 3)) < 0.6
            mask[np.arange(n), rng.integers(3, size=n)] = True
            if isinstance(item, tuple) and len(item) == 4:  # kinds of nodes
                mask |= ~model.kind_classes_[np.searchsorted(model.node_kinds_, item[3])]
                mask[:, 0] = mask[:, 1] = True
            if not rules:
                break
            labels, _ = score_labellings(model, item)
            if (follows(labels, RULES) & mask[np.arange(n), labels].all(1)).any():
                break
        form = rng.integers(4)
        if form == 0:
            mask[:] = True
        entries = [model.classes_[row].tolist() for row in mask]
        entries = [None if len(s) == 3 else s[0] if len(s) == 1 else {*s} for s in entries]
        known.append([None, mask, entries, np.array(entries, dtype=object)][form])
        masks.append(mask)
    return known, masks


@pytest.mark.parametrize("family", FAMILIES | SEGMENTS)
def test_what_is_known_in_other_forms(family):
    """By threads, one by one; nothing known changes no bits; what is wrong is named."""
    model, (items, _) = fitted(family, False, False), data(family)
    known, _ = draw(model, items, False)
    methods = [model.predict, model.decision_function]
    if family not in GRAPHS | CUTS:
        methods.append(partial(model.predict_topk, k=2))
    if family in SEGMENTS:
        methods.append(model.predict_segments)
    answers = [call(items, known=known) for call in methods]
    singly = [model.predict([x], known=[k])[0] for x, k in zip(items, known, strict=True)]
    assert all(map(np.array_equal, singly, answers[0]))
    if not isinstance(items[0], tuple):
        wider = model.predict([items[0][:0], *items], known=[[], *known])
        assert len(wider[0]) == 0 and all(map(np.array_equal, wider[1:], answers[0]))
    model.set_params(n_jobs=2)
    for call, found in zip(methods, answers, strict=True):
        assert all(map(np.array_equal, call(items, known=known), found))
    model.set_params(n_jobs=None)
    wrongs = {
        f"X has {len(items)} samples but known has {len(items) - 1}": known[:-1],
        r"known\[1\]\[0\] has 'd', which is": [None, ["d", *[None] * 3], *known[2:]],
        r"known\[1\] must be a sequence of labels": [None, "abcd", *known[2:]],
        r"known\[1\] must have shape \(4, ": [None, np.ones((1, 3), bool), *known[2:]],
        "known must be a list with": 3,
    }
    free = [np.ones((len(table), 3), dtype=bool) for table in answers[1]]
    for call in methods:
        for told, wrong in wrongs.items():
            with pytest.raises((ValueError, TypeError), match=told):
                call(items, known=wrong)
        for nothing in (None, [None] * len(items), free):
            assert all(map(np.array_equal, call(items, known=nothing), call(items)))


@every_pair(family=FAMILIES, states=[False, True], known=[False, True], rules=[False, True])
def test_predictions(family, states, known, rules):
    """All that a model says of items, under what is known, is that of enumeration."""
    states = states and family not in CUTS | KERNELS  # which have none
    rules = rules and family in SEQUENCES | KERNELS
    model, (items, _) = fitted(family, states, rules), data(family)
    given, masks = draw(model, items, rules)
    further = {"known": given} if known else {}
    found, margins = model.predict(items, **further), model.decision_function(items, **further)
    paths = model.predict_states(items, **further) if states else [None] * len(items)
    beams, top = [], None
    if family in ("sequences", "sequences, edges", "sequences, kernel"):
        narrow = [copy.copy(model).set_params(beam_size=size) for size in (1, 2)]
        beams = [each.predict(items, **further) for each in narrow]
    if hasattr(model, "predict_topk") and not states:
        top = model.predict_topk(items, 4, return_scores=True, **further)
    for i, (item, mask) in enumerate(zip(items, masks, strict=True)):
        labels, values = score_labellings(model, item)
        keep = np.ones(len(labels), dtype=bool)
        if known:
            keep &= mask[np.arange(len(mask)), labels].all(axis=1)
        if rules:
            keep &= follows(labels, RULES)
        if "kinds" in family and family in GRAPHS:
            place = np.searchsorted(model.node_kinds_, item[3])
            keep &= model.kind_classes_[place, labels].all(axis=1)
        labels, values = labels[keep], values[keep]
        order = np.argsort(-values)
        best = np.searchsorted(model.classes_, found[i])
        assert best.tolist() == labels[order[0]].tolist()
        for beam in beams:  # what it loses is looked for without it
            assert (labels == np.searchsorted(model.classes_, beam[i])).all(axis=1).any()
        if states:
            every, scores = score_paths(model, item)
            place = (every == paths[i]).all(axis=1).argmax()
            assert scores[place] == pytest.approx(values[order[0]])
            assert owners(model)[paths[i]].tolist() == best.tolist()
        expected = max_marginals(labels, values, 3)
        if family in GRAPHS | CUTS:  # the best that was found with each label
            assert margins[i].max() == pytest.approx(expected.max())
            assert (margins[i] <= expected + 1e-9).all()
            assert margins[i].argmax(axis=1).tolist() == best.tolist()
        else:
            np.testing.assert_allclose(margins[i], expected, atol=1e-9)
        if top is not None:
            places = [np.searchsorted(model.classes_, row).tolist() for row in top[0][i]]
            assert places == labels[order[:4]].tolist()
            np.testing.assert_allclose(top[1][i], values[order[:4]], atol=1e-9)
