"""What all oracles have in common: what they refuse, and what they leave alone."""

import re

import numpy as np
import pytest
from helpers.oracle_calls import CALLS, CHAIN

from sskit import oracles

NAN, INF = np.nan, np.inf
CUTS = {"graphcut", "graph_max_marginals", "expansion", "qpbo"}
TREES = {"tree_max_sum", "tree_max_marginals", "tree_marginals", "tree_top_k"}
BAD = [["a"], [1j], [[1.0], [1.0, 2.0], 3.0], np.array([object()])]
# the code of a hierarchy for its two forms
OTHER_NAMES = {"hierarchy": "hierarchy|parents|edges"}
COUNTS = [0, -3, 1.5, True, "2", None]


def arrays(name):
    """The arguments of a call as arrays of its own."""
    return {
        argument: np.array(value) if isinstance(value, list | np.ndarray) else value
        for argument, value in CALLS[name].items()
    }


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_named_and_left_alone(name):
    oracle, given = getattr(oracles, name), arrays(name)
    first, again = oracle(**given), oracle(**given)
    for one, other in zip(*(x if type(x) is tuple else (x,) for x in (first, again)), strict=True):
        np.testing.assert_array_equal(one, other)
    for argument, value in arrays(name).items():
        np.testing.assert_array_equal(given[argument], value)
        code = OTHER_NAMES.get(argument, argument)
        for bad in BAD:
            with pytest.raises(ValueError, match=rf"\b({code})\b"):
                oracle(**given | {argument: bad})


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if "truth" in call])
def test_losses_are_added_to_the_scores(name):
    oracle, given, rng = getattr(oracles, name), arrays(name), np.random.default_rng(0)
    for _ in range(20):
        given["nodes"] = rng.normal(size=given["nodes"].shape)
        given["truth"] = rng.integers(given["nodes"].shape[1], size=3)
        if name == "viterbi_by_loss":
            continue  # its losses are apart
        given["cost"] = 3.0 * rng.random(3)
        wrong = np.arange(given["nodes"].shape[1]) != given["truth"][:, None]
        augmented = given | {"nodes": given["nodes"] + wrong * given["cost"][:, None]}
        del augmented["truth"], augmented["cost"]
        labels, *values = oracle(**given)
        expected, *others = oracle(**augmented)
        assert labels.tolist() == expected.tolist() and values == pytest.approx(others)


def test_counts():
    for name, count in (
        ("viterbi_top_k", "k"), ("tree_top_k", "k"), ("segment_top_k", "k"),
        ("beam_search", "beam_size"),
    ):  # fmt: skip
        oracle, call = getattr(oracles, name), CALLS[name]
        for wrong in COUNTS:
            message = f"{count} must be a positive integer, got {wrong!r}"
            with pytest.raises(ValueError, match=re.escape(message)):
                oracle(**call | {count: wrong})
        # they may be larger than all there is, and of any type of integers
        found, *others = (
            [np.asarray(part, dtype=object).tolist() for part in oracle(**call | {count: n})]
            for n in (10**6, 10**30, np.int64(10**6))
        )
        assert others == [found, found]
        assert len(oracle(**call | {count: np.uint8(2)})[0]) >= 2


# {names of oracles: changes of their calls, and what is said}
NODES = [
    ({"nodes": [0, 1]}, r"nodes must have shape \(n_nodes, n_states\).*got \(2,\)"),
    ({"nodes": np.zeros((0, 3))}, r"both at least 1, got \(0, 3\)"),
    ({"nodes": np.zeros((3, 0))}, r"both at least 1, got \(3, 0\)"),
    ({"nodes": [[0, NAN]]}, r"nodes\[0, 1\] is nan, expected a .*number"),
    ({"nodes": [[0, 1], [0, INF]]}, r"nodes\[1, 1\] is inf, expected a .*number"),
]
LOSSES = [
    ({"truth": [0, 1]}, r"truth must be integers of shape \(3,\).*\(2,\)"),
    ({"truth": [0.0, 1.0, 0.0]}, "truth must be integers.*dtype float64"),
    ({"truth": [0, 3, 0]}, r"truth\[1\] is 3, expected integers >= 0 and <= \d"),
    ({"truth": [0, -1, 0]}, r"truth\[1\] is -1"),
    ({"cost": [1, 2]}, r"cost must be numbers .* got shape \(2,\)"),
    ({"cost": -1}, r"cost\[0\] is -1.0, expected finite"),
    ({"cost": [1, 1, NAN]}, r"cost\[2\] is nan"),
]
TRANSITIONS = [
    ({"transitions": np.zeros((2, 3))}, r"transitions must have shape \(3, 3\).*got \(2, 3\)"),
    ({"transitions": np.diag([0, NAN, 0])}, r"transitions\[1, 1\] is nan, expected a number or"),
    ({"transitions": np.diag([0, 0, INF])}, r"transitions\[2, 2\] is inf, expected a number or"),
]
NOTHING = [({"nodes": [[0, 1, 2], [-INF] * 3, [0, 1, 2]]}, "no labelling of 3 nodes is allowed")]
FORBIDDEN = [({"transitions": np.full((3, 3), -INF)}, "no labelling of 3 nodes is allowed")]
EDGES = [
    ({"edges": None}, "edges and pairwise go together, but edges is None"),
    ({"pairwise": None}, "edges and pairwise go together, but pairwise is None"),
    ({"edges": [[0, 1], [0, 3]]}, r"edges\[1, 1\] is 3"),
    ({"edges": [[0, 1], [0, 2**32 + 1]]}, r"edges\[1, 1\] is 4294967297"),
    ({"edges": [[0, 1], [-1, 0]]}, r"edges\[1, 0\] is -1"),
    ({"edges": [[1, 1], [0, 1]]}, r"edges\[0\] joins (node|label) 1 to itself"),
    ({"edges": [[0.0, 1.0], [0, 1]]}, "edges must be integers"),
]
PAIRWISE = [
    ({"pairwise": np.ones((2, 1))}, r"pairwise must have shape \(2,\) or"),
    ({"pairwise": [1.0, NAN]}, r"pairwise\[1\] is nan"),
    ({"pairwise": [INF, 1.0]}, r"pairwise\[0\] is inf"),
]
FINITE = [
    ({"nodes": [[0, -INF], [0, 0]]}, r"nodes\[0, 1\] is -inf, expected a finite number"),
    ({"pairwise": [1.0, -INF]}, r"pairwise\[1\] is -inf, expected a finite number"),
]
LARGE = [
    ({"nodes": np.full((3, 2), 1e308), "pairwise": [1.0, 1.0]}, "nodes and pairwise are too large"),
    ({"pairwise": 1e308 * np.eye(2), "nodes": np.zeros((3, 2))},
     "nodes and pairwise are too large"),
]  # fmt: skip
TWO_STATES = [
    ({"nodes": np.eye(3), "pairwise": [1.0, 1.0]},
     "nodes must have 2 columns, one for each state, got 3")
]  # fmt: skip
CYCLES = [
    ({"edges": [[0, 1], [1, 2], [2, 0]], "pairwise": [1, 1, 1]},
     "edge 2 between the nodes 2 and 0 closes a cycle"),
    ({"edges": [[0, 1], [1, 0]], "pairwise": [1, 1]},
     "edge 1 between the nodes 1 and 0 closes a cycle"),
]  # fmt: skip
START = [
    ({"start": [0, 1]}, r"start must be integers of shape \(3,\)"),
    ({"start": [0, 1, 3]}, r"start\[2\] is 3, expected integers >= 0 and <= 2"),
]
SPRINGS = np.ones((2, 1, 2, 3))
FAULTS = [
    (CHAIN, NODES),
    (CHAIN, TRANSITIONS),
    ({"nodes": 0, "truth": 0}, LOSSES),
    ({"triples": 0},
     [({"triples": np.zeros((2, 2))}, r"triples must have shape \(3, 3, 3\)"),
     ({"triples": np.full((3, 3, 3), NAN)}, r"triples\[0, 0, 0\] is nan"),
     ({"triples": np.full((3, 3, 3), INF)}, r"triples\[0, 0, 0\] is inf")]),
    (["viterbi", "viterbi_top_k", "beam_search", "chain_marginals"], NOTHING + FORBIDDEN),
    (["chain_marginals"], [
        ({"transitions": np.zeros((3, 3, 3)), "triples": None},
         r"\(3, 3\) or \(2, 3, 3\), got \(3, 3, 3\)"),
        ({"transitions": np.zeros((2, 4, 4)), "triples": None},
         r"\(3, 3\) or \(2, 3, 3\), got \(2, 4, 4\)"),
        ({"transitions": np.full((2, 3, 3), NAN), "triples": None},
         r"transitions\[0, 0, 0\] is nan"),
    ]),
    (["viterbi_by_loss"],
     [({"truth": None}, "truth must hold the true states"),
     ({"cost": 0.5}, r"cost\[0\] is 0.5, expected a whole number"),
     ({"cost": [1, -1, 1]}, r"cost\[1\] is -1"), ({"cost": 1e6}, "adds up to 3e"),
     ({"cost": 1e308}, "adds up to inf")]),
    ({"edges": 0}, EDGES),
    ({"nodes": 0, "edges": 0}, NODES + PAIRWISE),
    (["tree_max_sum", "tree_marginals", "tree_top_k", "elimination"], NOTHING),
    (CUTS, FINITE + LARGE),
    (["elimination", "trws"], LARGE),
    (["graphcut", "graph_max_marginals", "qpbo"], TWO_STATES),
    (TREES, CYCLES),
    (["expansion", "trws"], START),
    (["expansion"],
     [({"moves": "fusion"}, "moves must be 'expansion' or 'swap', got 'fusion'"),
     ({"pairwise": [1.0, -1.0]}, "edge 1 between the nodes 2 and 1 .* potential is -1, ")]),
    (["graphcut", "graph_max_marginals"],
     [({"pairwise": [np.eye(2), [[0, 1], [1, 0.5]]]},
     r"edge 1 between the nodes 2 and 1 cannot be represented.*\(0, 0\): 0, ")]),
    (["elimination"], [({"max_entries": 0}, "max_entries must be a positive integer, got 0")]),
    (["trws"],
     [({"max_sweeps": 0}, "max_sweeps must be a positive integer, got 0"),
     ({"n_moves": -1}, "n_moves must be an integer >= 0, got -1"),
     ({"tol": -1.0}, "tol must be a number >= 0, got -1.0"),
     ({"tol": NAN}, "tol must be a number >= 0, got nan")]),
    (["closure"], [
        ({"hierarchy": [1, 0]}, "parents has a cycle: label 0 is its own ancestor"),
        ({"gains": np.ones(4), "hierarchy": [1, 2, 3, 2]}, "label 2 is its own ancestor"),
        ({"hierarchy": [-1, 2]}, r"parents\[1\] is 2, expected integers >= -1 and <= 1"),
        ({"hierarchy": [-1, 0, 0]}, "has the parents of 3 labels, but gains has 2 labels"),
        ({"hierarchy": [-1.0, 0.0]}, "parents must be integers of shape"),
        ({"hierarchy": [[1, 1]]}, "label 1 is its own ancestor"),
        ({"hierarchy": [[0, 2]]}, r"edges\[0, 1\] is 2"),
        ({"hierarchy": [[0, 1, 2]]}, "edges must be integers of shape"),
    ]),
    ({"gains": 0},
     [({"gains": [[1.0, 1.0]]}, r"gains must have shape \(n_labels,\), got \(1, 2\)"),
     ({"gains": [1.0, NAN]}, r"gains\[1\] is nan, expected a finite number")]),
    (["lp_relaxation"],
     [({"pairwise": [1.0, 2.0]}, "pairwise has 2 numbers for 1 edges"),
     ({"pairwise": [INF]}, r"pairwise\[0\] is inf")]),
    (["distance_transform"], [
        ({"scores": []}, r"scores must have shape \(n,\) or \(height, width\)"),
        ({"scores": np.zeros((2, 2, 2))}, "scores must have shape"),
        ({"scores": [0, NAN]}, r"scores\[1\] is nan"),
        ({"scores": [[0, 1], [INF, 0]]}, r"scores\[1, 0\] is inf"),
        ({"square": 0.0}, "square must hold positive numbers"),
        ({"square": NAN}, "square must hold positive numbers"),
        ({"scores": [[0, 1]], "square": [1.0] * 3},
         r"square must be a number or have shape \(2,\)"),
        ({"linear": INF}, "linear must hold finite numbers"),
        ({"mean": INF}, "mean must hold finite numbers"),
        ({"mean": [1.0, 2.0]}, "mean must be a number or have shape"),
    ]),
    (["parts_max_sum", "parts_max_marginals"], [
        ({"scores": np.zeros((2, 3))}, "scores must be numbers of shape"),
        ({"scores": np.full((2, 3, 3), NAN)}, r"scores\[0, 0, 0\] is nan"),
        ({"parents": [0, -1]}, "parents has a cycle: node 0"),
        ({"parents": [-1, 2]}, r"parents\[1\] is 2"),
        ({"parents": [-1]}, r"parents must be integers of shape \(2,\)"),
        ({"parents": [-1, 0.0]}, "parents must be integers"),
        ({"springs": np.ones((2, 1, 2, 2))}, "springs must be numbers of shape"),
        ({"springs": SPRINGS * 0}, r"springs\[1, 0, 0, 1\] is 0.0"),
        ({"springs": SPRINGS * INF}, r"springs\[0, 0, 0, 0\] is inf"),
        ({"bias": np.zeros((2, 2))}, "bias must be numbers of shape"),
        ({"bias": np.full((2, 1), -INF)}, r"bias\[0, 0\] is -inf"),
    ]),
    (["worst_ranking"],
     [({"scores": [1.0, NAN]}, r"scores\[1\] is nan"),
     ({"relevance": [0]}, "relevance must hold a number for each of the 2 rows"),
     ({"relevance": [0, INF]}, r"relevance\[1\] is inf"),
     ({"loss_weight": -1.0}, "loss_weight must be a number >= 0")]),
]  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_what_is_wrong_is_named(name):
    """`FAULTS` gives names of oracles, or arguments that these have."""
    oracle, call = getattr(oracles, name), CALLS[name]
    for which, faults in FAULTS:
        if name in which or (isinstance(which, dict) and which.keys() <= call.keys()):
            for change, message in faults:
                with pytest.raises(ValueError, match=message):
                    oracle(**call | change)


@pytest.mark.parametrize("form", ["chain", "triples", "tree", "segments"])
def test_no_probability_of_huge_scores_exceeds_one(form):
    """Sums of scores of 1e18 are rounded to hundreds, whose exponentials are no probabilities."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        nodes, pairs = 1e18 * rng.normal(size=(5, 3)), 1e18 * rng.normal(size=(3, 3))
        if form == "tree":
            edges = np.array([[0, 1], [1, 2], [1, 3], [3, 4]])
            tables = np.broadcast_to(pairs, (4, 3, 3))
            found = oracles.tree_marginals(nodes, edges, tables, return_pairs=True)
        elif form == "segments":
            lengths = 1e18 * rng.normal(size=(3, 2))
            found = oracles.segment_marginals(nodes, pairs, lengths, return_segments=True)
        else:
            triples = [1e18 * rng.normal(size=(3, 3, 3))] if form == "triples" else []
            wanted = {"return_pairs": True, "return_triples": form == "triples"}
            found = oracles.chain_marginals(nodes, pairs, *triples, **wanted)
        for table in found[1:]:
            # three segments of up to two tokens have a token in common
            assert table.min() >= 0.0 and table.max() <= 3.0
