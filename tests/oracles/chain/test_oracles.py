"""All oracles of chains against all labellings, and their laws where these are too many.

A chain is the list of its potentials: nodes, transitions and, of the second order, triples.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp
from sskit_probes.chain_probe import draw_labels

from sskit.oracles import (
    beam_search,
    chain_marginals,
    chain_max_marginals,
    viterbi,
    viterbi_by_loss,
    viterbi_top_k,
)

INF = np.inf
SIZES = {
    1: [*itertools.product(range(1, 6), range(1, 6)), (1, 9), (3, 9), (2, 33), (3, 40)],
    2: [*itertools.product(range(1, 6), range(1, 5)), (1, 9), (2, 33), (3, 9), (3, 17), (4, 8)],
}


def top_k(nodes, transitions, triples=None, *, k):
    return viterbi_top_k(nodes, transitions, k, triples=triples)


def enumerate_chain(nodes, transitions, triples=None):
    """Return all labellings and their scores; `transitions` may be a table for each pair."""
    T, K = nodes.shape
    labels = np.indices((K,) * T).reshape(T, -1).T
    tables = np.broadcast_to(transitions, (T - 1, K, K))
    scores = nodes[0, labels[:, 0]]
    for t in range(1, T):
        # in the order of the recursion, so that equal is equal to the last bit
        scores = scores + tables[t - 1, labels[:, t - 1], labels[:, t]]
        if triples is not None and t > 1:
            scores = scores + triples[tuple(labels[:, t - 2 : t + 1].T)]
        scores = scores + nodes[t, labels[:, t]]
    return labels, scores


def ranked(labels, scores):
    """Return the places of what is allowed, best first, ties by the last label and so on."""
    order = np.lexsort((*labels.T, -scores))
    return order[scores[order] > -INF]


def draw(rng, T, K, order=1, *, forbid=0.0, integers=False, spread=1.0, feasible=True, each=False):
    """Return potentials; integers give many ties and exact sums."""
    shapes = [(T, K), (T - 1, K, K) if each else (K, K), (K, K, K)][: order + 1]
    if integers:
        tables = [rng.integers(-2, 3, shape).astype(float) for shape in shapes]
    else:
        tables = [rng.standard_normal(shape) for shape in shapes]
        tables[0] *= spread
    # labels only ever rise here, so that some labelling is allowed whatever is forbidden
    rising = np.arange(K) == np.sort(rng.integers(0, K, T))[:, None]
    pairs = np.triu(np.ones((K, K), dtype=bool))
    keep = rising, pairs, pairs[:, :, None] & pairs[None]
    return [
        np.where((must & feasible) | (rng.random(shape) >= forbid), table, -INF)
        for must, shape, table in zip(keep, shapes, tables, strict=False)
    ]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("integers", [False, True], ids=["reals", "ties"])
@pytest.mark.parametrize(
    ("forbid", "feasible"), [(0.0, True), (0.4, True), (0.9, True), (0.6, False)]
)
def test_best_labellings(order, integers, forbid, feasible):
    n_impossible = 0
    # at which few rows of triples are left out, or most are
    for (T, K), spread, seed in itertools.product(SIZES[order], (0.1, 5.0), range(2)):
        rng = np.random.default_rng([T, K, seed])
        chain = draw(
            rng, T, K, order, forbid=forbid, integers=integers, spread=spread, feasible=feasible
        )
        labels, scores = enumerate_chain(*chain)
        places = ranked(labels, scores)
        same = np.testing.assert_array_equal if integers else near
        expected = np.full((T, K), -INF)
        for t in range(T):
            np.maximum.at(expected[t], labels[:, t], scores)
        found = chain_max_marginals(*chain)
        same(found, expected)
        assert found.flags.c_contiguous
        if not len(places):
            n_impossible += 1
            for oracle, options in ((viterbi, {}), (top_k, {"k": 2})):
                with pytest.raises(ValueError, match=f"no labelling of {T} nodes is allowed"):
                    oracle(*chain, **options)
            continue
        for k in (1, 2, 7, 10_000):
            found, values = top_k(*chain, k=k)
            np.testing.assert_array_equal(found, labels[places[:k]])
            assert found.dtype == np.int32
            exact = np.testing.assert_array_equal if order == 1 else near
            exact(values, scores[places[:k]])
            assert (np.diff(values) <= 0).all()
        truth = rng.integers(0, K, T)
        cost = 2.0 if integers else rng.uniform(0, 3, T)
        loss = ((labels != truth) * cost).sum(axis=1)
        for options, augmented in (({}, scores), ({"truth": truth, "cost": cost}, scores + loss)):
            found, value = viterbi(*chain, **options)
            np.testing.assert_array_equal(found, labels[ranked(labels, augmented)[0]])
            same(value, augmented.max())
            assert found.dtype == np.int32 and isinstance(value, float)
    assert (n_impossible > 5) is not feasible


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def fractions_of(labels, fractions, K):
    """Return the probabilities of states, pairs and triples from those of all labellings."""
    T = labels.shape[1]
    sums = [np.zeros((max(T - n, 0), *(K,) * (n + 1))) for n in range(3)]
    for n, total in enumerate(sums):
        for t in range(T - n):
            np.add.at(total[t], tuple(labels[:, t + i] for i in range(n + 1)), fractions)
    return sums


@pytest.mark.parametrize(("order", "each"), [(1, False), (1, True), (2, False)])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("forbid", [0.0, 0.3, 0.7])
def test_probabilities(order, each, scale, forbid):
    options = {"return_pairs": True} | ({"return_triples": True} if order == 2 else {})
    for T, K in SIZES[order]:
        if K == 40:
            continue  # this takes long, and teaches nothing that 33 does not
        rng = np.random.default_rng([T, K])
        chain = draw(rng, T, K, order, forbid=forbid, feasible=order == 2, each=each)
        chain = [scale * table for table in chain]
        labels, scores = enumerate_chain(*chain)
        log_partition = logsumexp(scores)
        if log_partition == -INF:
            with pytest.raises(ValueError, match=f"no labelling of {T} nodes is allowed"):
                chain_marginals(*chain)
            continue
        found = chain_marginals(*chain, **options)
        assert isinstance(found[0], float)
        assert abs(found[0] - log_partition) <= 1e-12 * max(1.0, abs(log_partition))
        expected = fractions_of(labels, np.exp(scores - log_partition), K)[: order + 1]
        for some, others in zip(found[1:], expected, strict=True):
            assert some.flags.c_contiguous
            np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-12)
        for only, place in [({}, [])] + [({name: True}, [2 + k]) for k, name in enumerate(options)]:
            again = chain_marginals(*chain, **only)
            assert len(again) == 2 + len(place)
            for some, others in zip(again, [found[k] for k in (0, 1, *place)], strict=True):
                np.testing.assert_array_equal(some, others)


def test_what_seems_lost_comes_back():
    # the way to state 1 is worth nothing until the last node, whose state 1 only it can reach
    for low, turn in itertools.product((300.0, 1e4), (1, -1)):  # and backwards
        nodes = np.array([[0.0, -low], [0.0, -low], [0.0, 2 * low]])
        for lost in (-INF, -3 * low):
            table = np.array([[0.0, lost], [0.0, 0.0]])
            chain = nodes[::turn], table[::turn, ::turn]
            labels, scores = enumerate_chain(*chain)
            fractions = fractions_of(labels, np.exp(scores - logsumexp(scores)), 2)
            found = chain_marginals(*chain, return_pairs=True)
            assert found[0] == pytest.approx(logsumexp(scores), rel=1e-12)
            for some, others in zip(found[1:], fractions[:2], strict=True):
                np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(
    ("order", "K", "T"),
    [(1, 2, 10_000), (1, 9, 1000), (1, 45, 300), (2, 2, 300), (2, 9, 300), (2, 22, 100)],
)
def test_probabilities_of_long_chains(order, K, T):
    for scale, forbid in itertools.product((1.0, 1e4), (0.0, 0.2)):
        chain = draw(np.random.default_rng(K), T, K, order, forbid=forbid)
        nodes, pairs, *triples = (scale * table for table in chain)
        options = {"return_pairs": True} | ({"return_triples": True} if triples else {})
        log_partition, marginals, both, *three = chain_marginals(nodes, pairs, *triples, **options)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(both.sum(axis=2), marginals[:-1], atol=1e-9)
        for table in three:
            np.testing.assert_allclose(table.sum(axis=3), both[:-1], atol=1e-7)
            np.testing.assert_allclose(table.sum(axis=1), both[1:], atol=1e-7)
        best = chain_max_marginals(nodes, pairs, *triples).max()
        assert best - 1e-12 * abs(best) <= log_partition <= best + T * np.log(K)
        turned = [table.transpose(2, 1, 0) for table in triples]
        reverse = chain_marginals(nodes[::-1], pairs.T, *turned)
        assert reverse[0] == pytest.approx(log_partition, rel=1e-12)
        np.testing.assert_allclose(reverse[1][::-1], marginals, rtol=1e-6, atol=1e-7)
        if triples:
            found, expected = (
                chain_marginals(nodes, pairs, *zeros, return_pairs=True)
                for zeros in ([np.zeros((K, K, K))], [])
            )
            for some, others in zip(found, expected, strict=True):
                np.testing.assert_allclose(some, others, rtol=1e-12, atol=1e-7)


@pytest.mark.parametrize(("T", "K"), [(1, 3), (2, 3), (3, 2), (5, 3)])
def test_draws_have_the_probabilities(T, K):
    rng = np.random.default_rng(T)
    tables = draw(rng, T, K, 2, forbid=0.3)
    n = 20_000
    labels = draw_labels(*tables, rng.random((n, T)))
    all_labels, scores = enumerate_chain(*tables)
    expected = fractions_of(all_labels, np.exp(scores - logsumexp(scores)), K)
    for some, others in zip(fractions_of(labels, np.full(n, 1 / n), K), expected, strict=True):
        assert (some[others == 0.0] == 0.0).all()
        np.testing.assert_allclose(some, others, atol=5 * np.sqrt(0.25 / n))


@pytest.mark.parametrize("forbid", [0.0, 0.3])
@pytest.mark.parametrize("counts", ["one", "some", "zeros"])
def test_best_by_loss(counts, forbid):
    rng = np.random.default_rng(0)
    for _ in range(60):
        T, K = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        chain = draw(rng, T, K, forbid=forbid, feasible=False, spread=10.0 ** rng.integers(-3, 4))
        truth = rng.integers(K, size=T)
        levels = np.full(T, 0 if counts == "zeros" else 1)
        if counts != "one":
            levels = levels + rng.integers(0, 3, size=T)
        labels, scores = enumerate_chain(*chain)
        losses = ((labels != truth) * levels).sum(axis=1)
        expected = np.full(levels.sum() + 1, -INF)
        np.maximum.at(expected, losses, scores)
        found, values = viterbi_by_loss(*chain, truth, cost=levels)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
        for e, y in enumerate(found):
            if values[e] == -INF:
                assert (y == -1).all()
                continue
            place = np.ravel_multi_index(y, (K,) * T)
            assert losses[place] == e
            assert scores[place] == pytest.approx(values[e], rel=1e-9, abs=1e-9)
    # the best of all losses is that of viterbi
    chain, truth = draw(rng, 30, 26), rng.integers(26, size=30)
    _, scores = viterbi_by_loss(*chain, truth)
    assert scores.max() == pytest.approx(viterbi(*chain)[1])
    assert (scores + np.arange(31)).max() == pytest.approx(viterbi(*chain, truth=truth)[1])


# ------------------------------------------------------------------------------ special cases


def test_what_is_forbidden():
    # it beats any loss
    transitions = np.array([[0.0, -INF], [-INF, 0.0]])
    labels, score = viterbi(np.zeros((3, 2)), transitions, truth=[0, 1, 0], cost=1e12)
    assert (labels.tolist(), score) == ([1, 1, 1], 2e12)
    # once in state 1 a chain stays there: one labelling for each place of the change, and one
    T, transitions = 500, np.array([[0.0, 0.0], [-INF, 0.0]])
    nodes = np.stack([np.zeros(T), np.linspace(-1.0, 1.0, T)], axis=1)
    labels, scores = viterbi_top_k(nodes, transitions, 1000)
    assert len(labels) == T + 1 and (np.diff(labels, axis=1) >= 0).all()
    np.testing.assert_array_equal(np.sort(labels.sum(axis=1)), np.arange(T + 1))
    np.testing.assert_allclose(scores, (labels * nodes[:, 1]).sum(axis=1), atol=1e-10)
    assert (np.diff(scores) <= 0).all()


@pytest.mark.parametrize("order", [1, 2])
def test_all_equal_gives_zeros_and_any_scale_the_same(order):
    chain = [np.zeros((40, 11)), np.zeros((11, 11)), np.zeros((11, 11, 11))][: order + 1]
    labels, score = viterbi(*chain)
    np.testing.assert_array_equal(labels, np.zeros(40))
    assert score == 0.0
    labels, scores = top_k(*chain, k=12)
    assert (labels[:11, 1:] == 0).all() and labels[:11, 0].tolist() == list(range(11))
    assert labels[11, :2].tolist() == [0, 1] and not scores.any()
    labels, scores = viterbi_top_k(np.ones((100, 1)), [[0.5]], 3)
    np.testing.assert_array_equal(labels, np.zeros((1, 100)))
    assert scores == [149.5]
    chain = draw(np.random.default_rng(1), 5, 9, order)
    labels, score = viterbi(*chain)
    for scale in (1e-300, 1e-8, 1e8, 1e300):
        found = viterbi(*(scale * table for table in chain))
        np.testing.assert_array_equal(found[0], labels)
        assert found[1] == pytest.approx(scale * score, rel=1e-12)
    for seed in range(75):  # nor do many orders of magnitude in one chain, but for rounding
        rng = np.random.default_rng(seed)
        chain = [x * 10.0 ** rng.integers(-150, 150, x.shape) for x in draw(rng, 4, 3, order)]
        labels, scores = enumerate_chain(*chain)
        size = 1e-14 * max(np.abs(table).max() for table in chain)
        found, score = viterbi(*chain)
        assert abs(score - scores.max()) <= size
        assert scores[np.ravel_multi_index(found, (3,) * 4)] >= scores.max() - size
        found, values = top_k(*chain, k=81)
        np.testing.assert_allclose(values, np.sort(scores)[::-1], rtol=0, atol=size)
        # rounding makes ties, in an order of its own; distinct all the same
        assert len(np.unique(found, axis=0)) == 81
        assert np.abs(chain_max_marginals(*chain).max(axis=1) - scores.max()).max() <= size


# ----------------------------------------------------------------------------------------- laws

HALVES = st.integers(-20, 20).map(lambda i: i / 2)


@st.composite
def chains(draw, max_nodes=15, max_states=10, forbidden=True):
    T, K = draw(st.integers(1, max_nodes)), draw(st.integers(1, max_states))
    nodes = draw(arrays(float, (T, K), elements=HALVES))
    scores = st.one_of(HALVES, st.just(-INF)) if forbidden else HALVES
    table = draw(arrays(float, (K, K), elements=scores))
    # staying is always allowed
    return nodes, np.where(np.eye(K, dtype=bool) & np.isinf(table), 0.0, table)


@settings(max_examples=30)
@given(chains(), HALVES, st.integers(1, 40), st.integers(0, 20), st.integers(0, 2**32 - 1))
def test_laws(chain, constant, k, more, seed):
    nodes, transitions = chain
    (T, K), rng = nodes.shape, np.random.default_rng(seed)
    labels, score = viterbi(nodes, transitions)
    backward, order = (nodes[::-1], transitions.T), rng.permutation(K)
    assert viterbi(*backward)[1] == score
    assert viterbi(nodes[:, order], transitions[np.ix_(order, order)])[1] == score
    moved = viterbi(nodes + constant, transitions)
    np.testing.assert_array_equal(moved[0], labels)
    assert moved[1] == score + constant * T
    assert viterbi(nodes, transitions, truth=labels, cost=0)[1] == score
    assert score <= viterbi(nodes, transitions, truth=labels)[1] <= score + T
    # the best scores with each state
    marginals = chain_max_marginals(nodes, transitions)
    np.testing.assert_array_equal(marginals.max(axis=1), np.full(T, score))
    np.testing.assert_array_equal(marginals[np.arange(T), labels], score)
    np.testing.assert_array_equal(chain_max_marginals(*backward), marginals[::-1])
    t, state = rng.integers(T), rng.integers(K)
    if np.isfinite(marginals[t, state]):
        forced = nodes.copy()
        forced[t, state] += 2.0**20
        assert viterbi(forced, transitions)[1] - 2.0**20 == marginals[t, state]
    # several
    found, scores = viterbi_top_k(nodes, transitions, k)
    assert 1 <= len(found) == len(scores) <= min(k, K**T)
    assert len(np.unique(found, axis=0)) == len(found)
    assert (np.diff(scores) <= 0).all() and scores[0] == score
    np.testing.assert_array_equal(found[0], labels)
    pairs = transitions[found[:, :-1], found[:, 1:]].sum(axis=1)
    np.testing.assert_array_equal(scores, nodes[np.arange(T), found].sum(axis=1) + pairs)
    others = viterbi_top_k(nodes, transitions, k + more)
    np.testing.assert_array_equal(found, others[0][:k])
    np.testing.assert_array_equal(scores, others[1][:k])


@given(st.integers(2, 25), st.integers(2, 12), st.integers(0, 10**6))
def test_second_order_is_the_first_order_of_pairs(T, K, seed):
    """Pairs of labels are the states of a chain of the first order."""
    nodes, transitions, triples = draw(np.random.default_rng(seed), T, K, 2, forbid=0.1)
    states = np.array(list(itertools.product(range(K), repeat=2)))
    pair_nodes = nodes[1:, states[:, 1]] + transitions[states[:, 0], states[:, 1]]
    pair_nodes[0] += nodes[0, states[:, 0]]
    follows = states[:, None, 1] == states[None, :, 0]
    table = triples[states[:, None, 0], states[:, None, 1], states[None, :, 1]]
    expected, best = viterbi(pair_nodes, np.where(follows, table, -INF))
    labels, score = viterbi(nodes, transitions, triples)
    assert score == pytest.approx(best, rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(labels, [*states[expected, 0], states[expected[-1], 1]])


# ------------------------------------------------------------------------------- beam search


def score_of(nodes, transitions, labels):
    return nodes[np.arange(len(labels)), labels].sum() + transitions[labels[:-1], labels[1:]].sum()


def beam_by_definition(nodes, transitions, size):
    """Prefixes as tuples (labelling, score): the best for each last state, the best of those."""
    beam = [((a,), score) for a, score in enumerate(nodes[0])]
    for node in nodes[1:]:
        # of equal scores the smaller last state
        beam = sorted(beam, key=lambda prefix: (-prefix[1], prefix[0][-1]))[:size]
        following = []
        for b, score in enumerate(node):
            longer = [(labels, s + transitions[labels[-1], b]) for labels, s in beam]
            if not longer:
                return None, -INF
            labels, s = min(longer, key=lambda prefix: (-prefix[1], prefix[0][-1]))
            if s > -INF:
                following.append(((*labels, b), s + score))
        beam = following
    return min(beam, key=lambda prefix: (-prefix[1], prefix[0][-1]), default=(None, -INF))


@pytest.mark.parametrize("integers", [False, True], ids=["reals", "ties"])
def test_beam_search_is_what_its_definition_says(integers):
    for (T, K), scale in itertools.product([(1, 3), (2, 2), (4, 5), (6, 9), (5, 33)], (0, 150)):
        rng = np.random.default_rng(10 * T + K)
        for _ in range(5):
            tables = rng.standard_normal((T, K)), rng.standard_normal((K, K))
            if integers:
                tables = [np.rint(table) for table in tables]
            elif scale:  # many orders of magnitude
                tables = [x * 10.0 ** rng.integers(-scale, scale, x.shape) for x in tables]
            size = max(np.abs(table).max() for table in tables)
            best, maximum = viterbi(*tables)
            for beam_size in {1, 2, K // 2, K - 1, K, K + 7} - {0}:
                labels, score = beam_search(*tables, beam_size)
                expected, value = beam_by_definition(*tables, beam_size)
                assert score == pytest.approx(value, abs=1e-14 * size)
                assert score == pytest.approx(score_of(*tables, labels), abs=1e-14 * size)
                if not scale or integers:
                    np.testing.assert_array_equal(labels, expected)
                if beam_size >= K:  # all states give the best labelling
                    assert score == pytest.approx(maximum, abs=1e-14 * size)
                    if not scale or integers:
                        np.testing.assert_array_equal(labels, best)
                assert labels.dtype == np.int32 and isinstance(score, float)


@given(chains(10, forbidden=False), HALVES, st.integers(1, 10))
def test_laws_of_beam_search(chain, constant, size):
    nodes, transitions = chain
    size = min(size, len(transitions))
    labels, score = beam_search(nodes, transitions, size)
    assert score == score_of(nodes, transitions, labels)
    assert score <= viterbi(nodes, transitions)[1]
    # constants change no label
    np.testing.assert_array_equal(beam_search(nodes + constant, transitions, size)[0], labels)
    np.testing.assert_array_equal(beam_search(nodes, transitions + constant, size)[0], labels)
    # without transitions one state is enough
    alone, _ = beam_search(nodes, 0.0 * transitions, 1)
    np.testing.assert_array_equal(alone, nodes.argmax(axis=1))


def test_beams_take_no_forbidden_transition():
    rng, n_lost = np.random.default_rng(0), 0
    for _ in range(60):
        nodes, transitions = rng.standard_normal((5, 6)), rng.standard_normal((6, 6))
        allowed = rng.random((6, 6)) < 0.2
        allowed[0, 0] = True  # there is a way
        transitions[~allowed] = -INF
        for size in (1, 2, 4):
            labels, score = beam_search(nodes, transitions, size)
            assert np.isfinite(score)
            assert score == pytest.approx(score_of(nodes, transitions, labels), abs=1e-12)
            expected, _ = beam_by_definition(nodes, transitions, size)
            if expected is None:
                n_lost += 1
                expected = viterbi(nodes, transitions)[0]
            np.testing.assert_array_equal(labels, expected)
    assert n_lost > 10
