"""Compiled code checks what Python hands to it: sizes, indices, and what goes with what."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.toys import chain_toy, graph_toy, multiclass_toy, multilabel_toy
from sskit_probes.core_probe import DualProbe
from sskit_probes.factor_probe import FactorProbe, look_at_node
from sskit_probes.step_probe import StepProbe

from sskit.core.direction import Direction
from sskit.core.dual import DualState
from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.core.sampler import GapSampler, PermutationSampler, SumTree, UniformSampler
from sskit.models.features import FeatureRows, RowScores
from sskit.models.graph.decoder import decode_requested as decode_graphs
from sskit.models.graph.request import GraphRequest
from sskit.models.label_sets.decoder import best_sets, climb
from sskit.models.structured.problem import HandleStore
from sskit.oracles.graph.cut import Cut
from sskit.oracles.graph.potentials import PairForm
from sskit.oracles.label_sets.exact import EnumeratedSets
from sskit.oracles.label_sets.oracle import find_label_set
from sskit.solvers.block_coordinate.eviction import PlaneKeeper
from sskit.solvers.block_coordinate.plain_pass import PlainVisitor
from sskit.solvers.common.averaging import Averager, TwoAverages, WeightedAverager
from sskit.solvers.dual_decomposition.factors.oracle import EdgeSearch, NodeSearch
from sskit.solvers.dual_decomposition.factors.sorted_oracle import OrderedSearch
from sskit.solvers.dual_decomposition.factors.state import FactorState
from sskit.solvers.dual_decomposition.factors.sweep import PlainUpdate, Sweep
from sskit.solvers.dual_decomposition.label_pairs.pair_table import PairTable, find_pair
from sskit.solvers.oracle_calls.answers import Gaps, Hinges
from sskit.solvers.oracle_calls.call import Visit
from sskit.solvers.oracle_calls.exact_pass import Evaluator
from sskit.solvers.oracle_calls.minibatch import Batches, Visitor, run_pass
from sskit.solvers.oracle_calls.pool import Pool, ThreadPool
from sskit.solvers.oracle_calls.vertices import Vertices
from sskit.solvers.simplex_qp.program import SimplexProgram
from sskit.solvers.subgradient import subgradient_pass
from sskit.testing.probe import ProblemProbe

BIG = 10**9
RNG = np.random.RandomState(0)
CHAINS, ROWS, SETS = chain_toy().problem, multiclass_toy().problem, multilabel_toy().problem
GRAPHS = graph_toy().problem
DUAL, FORBIDDEN = DualState(CHAINS), np.array([[True, False], [True, True]])
W = np.zeros(CHAINS.n_weights + 16)
SCORES = RowScores(FeatureRows(np.ones((4, 2))), np.ones((2, 2)))
FACTORS, PAIRS = (
    CHAINS.decomposition(),
    PairTable(multilabel_toy(inference="lp").problem.decomposition()),
)
STATE = FactorState(FACTORS, 0.1, 1.0, W.copy())
PROBE, FACTOR_PROBE = ProblemProbe(CHAINS), FactorProbe(FACTORS)


def graph_request(offsets=(0, 1), ends=((0, 1),)):
    """A request for the labels of a graph of four nodes, but for what is given."""
    ends = np.array(ends, dtype=np.int32)
    form, edge_rows = PairForm(2, "potts"), FeatureRows(np.ones((1, 1)))
    return GraphRequest([SCORES], [edge_rows], np.ones(1), ends, np.array(offsets), form, Cut())


def drawn(cls, n_steps, n_blocks=5):
    """A sampler that has drawn so many steps."""
    sampler = cls(n_blocks, RNG)
    sampler.begin_pass(n_steps)
    return sampler


def bcfw_pass(dual=DUAL, sampler=None, n_steps=5, n_gaps=5):
    """A pass over the chains, but for what is given."""
    sampler = drawn(UniformSampler, 5) if sampler is None else sampler
    regularizer = Regularizer(0.1, CHAINS.n_weights)
    visitor = PlainVisitor(CHAINS, dual, regularizer, Averager(), np.zeros(n_gaps))
    run_pass(visitor, sampler, n_steps)


def subgradient_steps(visit):
    """A pass of another solver, with memory for the visits of some problem."""
    state = subgradient_pass.SubgradientState(0.1, CHAINS.n_weights)
    subgradient_pass.run_pass(CHAINS, state, drawn(UniformSampler, 5), Visit(visit), 5)


def labels_of(n, top=2):
    return np.full(n, top, dtype=np.int32)


def described(**changes):
    """Planes as a store describes them, but for what is given."""
    planes = {"key": ["a"], "loss": [1.0], "n_entries": np.array([2]), "index": labels_of(2)}
    planes |= {"value": np.ones(2)} | changes
    return HandleStore(["t"], 9).import_planes(np.zeros(1, dtype=np.int64), planes)


CALLS = {
    "planes of a block": (lambda: DUAL.planes(BIG), IndexError, f"block {BIG} .* 0 to 4"),
    "planes before the first": (lambda: DUAL.planes(-1), IndexError, "block -1 .* 0 to 4"),
    "mix of a block": (lambda: DUAL.mix(5), IndexError, "block 5 .* 0 to 4"),
    "no problem": (lambda: DualState(None), TypeError, "problem"),
    "another self": (lambda: DualState.planes(CHAINS, 0), TypeError, "DualState"),
    "shares": (lambda: DUAL.keep_shares(CHAINS, np.ones(4)), ValueError, "shares is 4, .* 5"),
    "another problem": (
        lambda: DUAL.rebuild(ROWS, Regularizer(1.0, ROWS.n_weights)), ValueError, "blocks is 5",
    ),
    "another space": (
        lambda: DUAL.rebuild(CHAINS, Regularizer(1.0, 3)), ValueError, "weights is 3",
    ),
    "negative size": (lambda: Direction(-1), ValueError, "size is -1"),
    "values": (lambda: SumTree(np.ones(3)).fill(np.ones(2)), ValueError, "values is 2, .* 3"),
    "negative weights": (lambda: Regularizer(1.0, -1), ValueError, "n_weights is -1"),
    "bounds": (lambda: BoxRegularizer(1.0, np.zeros(2), np.ones(3)), ValueError, "bounds is 3"),
    "negative planes": (lambda: PlaneKeeper(1, -1, 1.0), ValueError, "max_planes is -1"),
    "no blocks": (lambda: PermutationSampler(0, RNG), ValueError, "n_blocks is 0"),
    "negative steps": (lambda: GapSampler(3, RNG).begin_pass(-1), ValueError, "n_steps is -1"),
    "gaps": (lambda: GapSampler(3, RNG).set_gaps(np.ones(2)), ValueError, "values is 2, .* 3"),
    "steps not drawn": (lambda: bcfw_pass(n_steps=6), ValueError, "6 steps are more than the 5"),
    "nothing drawn": (lambda: bcfw_pass(sampler=GapSampler(5, RNG)), ValueError, "more than the 0"),
    "other blocks": (
        lambda: bcfw_pass(sampler=drawn(UniformSampler, 9, 9)), ValueError, "sampler is 9, .* 5",
    ),
    "room for gaps": (lambda: bcfw_pass(n_gaps=4), ValueError, "gaps is 4, expected 5"),
    "nobody visits": (
        lambda: run_pass(Visitor(), drawn(UniformSampler, 5), 5), TypeError, "no problem",
    ),
    "another dual point": (lambda: bcfw_pass(dual=DualState(ROWS)), ValueError, "blocks is 12"),
    "room of a visit": (lambda: subgradient_steps(ROWS), ValueError, "room for statistics"),
    "weights of hinges": (lambda: Evaluator(CHAINS).hinges(np.zeros(3)), ValueError, "of w is 3"),
    "dual point of hinges": (
        lambda: Evaluator(CHAINS).hinges(W, DualState(ROWS)), ValueError, "blocks is 12",
    ),
    "questions": (lambda: Hinges(CHAINS, 3).ask_all(), ValueError, "questions is 3, expected 5"),
    "dual point of gaps": (lambda: Gaps(CHAINS, 5, DualState(ROWS)), ValueError, "blocks is 12"),
    "answers": (lambda: Pool(CHAINS).call_oracle(Hinges(ROWS, 12), W), ValueError, "blocks is 5"),
    "blocks of vertices": (
        lambda: Vertices(CHAINS, 5, DUAL).ask([5]), IndexError, "block 5 .* 0 to 4",
    ),
    "room for sums": (lambda: Vertices(CHAINS, 5, DUAL).find(W, W[:4]), ValueError, "of out is 4"),
    "no workers": (lambda: ThreadPool(CHAINS, 0), ValueError, "n_workers is 0"),
    "empty batches": (
        lambda: Batches(Pool(CHAINS), DUAL, Regularizer(1.0, CHAINS.n_weights), 0),
        ValueError, "size is 0",
    ),
    "phase": (lambda: TwoAverages(3).attend(2), IndexError, "phase 2 .* 0 to 1"),
    "saved average": (
        lambda: WeightedAverager(3).restore(("one", np.zeros(3), 0.0, 1.0)), ValueError, "is 3",
    ),
    "code of a plane": (lambda: PROBE.plane(1, [0, 7]), ValueError, "block 1 has no plane"),
    "code to store": (
        lambda: DualProbe(CHAINS, DUAL).insert(1, [0, -1], 1.0), ValueError, "block 1 has no plane",
    ),
    "code of a graph": (
        lambda: ProblemProbe(GRAPHS).plane(0, [9] * ProblemProbe(GRAPHS).code_length(0)),
        ValueError, "no plane",
    ),
    "code of sets": (lambda: ProblemProbe(SETS).plane(0, [-1] * 6), ValueError, "no plane"),
    "room of factors": (lambda: FactorState(FACTORS, 1.0, 1.0, W[:3]), ValueError, "w is 3"),
    "another state": (
        lambda: Sweep(
            STATE, NodeSearch(FactorState(FACTORS, 1.0, 1.0, W.copy())), EdgeSearch(STATE),
            PlainUpdate(), 1.0,
        ),
        ValueError, "another state",
    ),
    "no parts": (lambda: NodeSearch(STATE, 0, 1), ValueError, "n_parts is 0"),
    "no table of pairs": (
        lambda: OrderedSearch(
            FactorState(
                chain_toy(n_states=2, allowed=FORBIDDEN).problem.decomposition(),
                1.0,
                1.0,
                np.zeros(99),
            )
        ),
        ValueError, "table of weights",
    ),
    "node of a block": (lambda: look_at_node(NodeSearch(STATE), 1, 0), IndexError, "node -1 "),
    "states of a node": (
        lambda: FACTOR_PROBE.node_scores(0, 0, W[:-16], 0, 4), IndexError, "states 0 to 4",
    ),
    "pair of an edge": (lambda: FACTOR_PROBE.edge(1, 0, 9, W[:-16]), IndexError, "pair 9 "),
    "reduced costs": (lambda: find_pair(PAIRS, [0.0]), ValueError, "reduced_costs is 1"),
    "no weights": (
        lambda: SimplexProgram([1.0], [0.0], [[1.0]], 1.0, 1.0), ValueError, "weights that sum",
    ),
    "atoms": (
        lambda: StepProbe([1.0], [1.0], [[1.0]], 1.0, 1.0).search(1, -1), IndexError, "target 2 ",
    ),
    "columns of weights": (
        lambda: RowScores(FeatureRows(np.ones((4, 2))), np.ones((2, 3))), ValueError, "is 3",
    ),
    "further columns of weights": (
        lambda: RowScores(FeatureRows(np.ones((4, 3))), np.ones((2, 2)), np.ones((3, 1))),
        ValueError, "further is 3",
    ),
    "edges of a request": (
        lambda: graph_request(ends=[[0, 4]]), IndexError, "none of its graph",
    ),
    "edge features of a request": (
        lambda: graph_request(offsets=[0, 2], ends=[[0, 1], [1, 2]]), ValueError, "features is 1",
    ),
    "graphs to decode": (
        lambda: decode_graphs(graph_request(), 0, 2, labels_of(99)), IndexError, "graphs 0 to 2",
    ),
    "room for labels of graphs": (
        lambda: decode_graphs(graph_request(), 0, 1, labels_of(3)), ValueError, "labels is 3",
    ),
    "ends of sets": (
        lambda: best_sets(
            EnumeratedSets(), np.zeros((1, 2)), np.array([[0, 5], [0, 0]], np.int32), np.zeros(2),
            np.zeros((1, 2), np.uint8),
        ),
        IndexError, "label 5 .* 0 to 1",
    ),
    "neighbours": (
        lambda: climb(
            np.zeros((1, 2)), np.array([0, 1, 1], np.int32), labels_of(1), np.zeros(1), 3,
            np.zeros((1, 2), np.uint8), np.zeros((1, 2)),
        ),
        IndexError, "label 2 .* 0 to 1",
    ),
    "ends of pairs": (
        lambda: find_label_set(EnumeratedSets(), np.zeros(2), np.full((1, 2), 2, np.int32), [1.0]),
        IndexError, "label 2 .* 0 to 1",
    ),
    "handles": (lambda: HandleStore(["t"], 9).export_planes(labels_of(1)), IndexError, "plane 2 "),
    "block of a plane": (
        lambda: HandleStore(["t"], 9).import_planes(np.array([1]), {}), IndexError, "block 1 ",
    ),
    "entries of a plane": (
        lambda: described(n_entries=np.array([3])), ValueError, "length of index is 2, expected 3",
    ),
    "values of a plane": (lambda: described(value=np.ones(1)), ValueError, "of value is 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_refused(name):
    call, error, pattern = CALLS[name]
    with pytest.raises(error, match=pattern):
        call()


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">f2", "longdouble", "i8", "?", "complex128"])
def test_numbers_of_other_types_are_not_read_as_floats(dtype):
    X = np.eye(3).astype(dtype)
    for form in [X] if ">" in dtype else [X, sp.csr_array(X)]:
        with pytest.raises(TypeError, match="must be float64, float32 or float16, got"):
            FeatureRows(form, sparsify=False)


@pytest.mark.parametrize("marks", [np.zeros(2, np.uint8), np.full(3, 4, np.uint8), np.zeros(3)])
def test_marks_that_do_not_fit(marks):
    with pytest.raises(ValueError, match=r"the number of marks|two bits|Buffer dtype"):
        FeatureRows(np.eye(3), marks=marks)


def test_columns_beyond_what_an_index_holds():
    wide = sp.csr_array(([1.0], ([0], [2**31])), shape=(1, 2**40))
    with pytest.raises(ValueError, match="2147483647 features are possible"):
        FeatureRows(wide)


def test_numbers_of_blocks_that_are_right_are_taken():
    bcfw_pass()
    assert described().tolist() == [1]
    assert DUAL.planes(4)[3] == 1.0
