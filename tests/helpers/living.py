"""Objects of extension types as fits of small problems make them."""

import contextlib
import gc
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sskit_probes.core_probe import DualProbe
from sskit_probes.factor_probe import FactorProbe
from sskit_probes.slack_probe import Points
from sskit_probes.step_probe import StepProbe
from sskit_probes.unreliable import (
    BoundingProblem,
    ForgetfulProblem,
    UnreliableProblem,
    WrappedProblem,
)

import sskit
from helpers.hidden import Started
from helpers.structures import Chains, Classes, bind
from helpers.toys import chain_toy, graph_toy, multiclass_toy, multilabel_toy, ranking_toy
from helpers.trees import random_parents
from sskit import SlackRescaling
from sskit.core.direction import Direction
from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.core.sampler import SumTree
from sskit.core.stop import Stop
from sskit.losses.batch import Batch, BatchTask, Found, Numbers, Truths
from sskit.losses.chain import ChainDecode, ChainHinge, ChainSlack, ChainTask
from sskit.losses.graph import GraphDecode, GraphHinge, GraphTask, GraphWorker
from sskit.losses.marginals import (
    ChainMarginals,
    ChainMaxMarginals,
    TreeMarginals,
    TreeMaxMarginals,
)
from sskit.models.chain.probabilities import ChainPotentials
from sskit.models.chain.problem import ChainProblem
from sskit.models.chain.request import ChainRequest
from sskit.models.edge_chain.problem import EdgeChainProblem, EdgeChainRequest
from sskit.models.features import (
    FeatureRows,
    PossibleScores,
    RowGrams,
    RowScores,
    Table,
    no_grams,
)
from sskit.models.graph.request import GraphRequest
from sskit.models.kernel.rows import KernelRows
from sskit.models.second_chain.problem import SecondChainRequest
from sskit.models.segments.problem import SegmentLoss, SpanLoss, TokenLoss
from sskit.models.segments.request import SegmentRequest, SegmentTables, WholeFeatures
from sskit.models.slack.model import SEARCHES
from sskit.models.slack.search import SlackSearch
from sskit.models.structured.problem import HandleStore
from sskit.models.tree.probabilities import TreePotentials
from sskit.oracles.chain.viterbi import Beam
from sskit.oracles.graph.cut import Cut
from sskit.oracles.graph.potentials import GraphPotentials, PairForm
from sskit.oracles.parts.max_sum import GridPotentials
from sskit.oracles.rankings.swapped_pairs import SwappedPairs
from sskit.oracles.segments.semi_markov import PackedSegments, SegmentKBest, SegmentMaxSum
from sskit.parallel.crew import Crew
from sskit.preprocessing._token_rows import TokenColumns, TokenReader
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient
from sskit.solvers.block_coordinate.eviction import PlaneKeeper
from sskit.solvers.block_coordinate.plain_pass import MixVisitor
from sskit.solvers.common.averaging import Averager, WeightedAverager
from sskit.solvers.common.snapshot import Mover
from sskit.solvers.dual_decomposition.factors.consistent import ConsistentPoint
from sskit.solvers.dual_decomposition.factors.oracle import NodeSearch
from sskit.solvers.dual_decomposition.factors.sorted_oracle import OrderedSearch
from sskit.solvers.dual_decomposition.factors.state import FactorState
from sskit.solvers.dual_decomposition.label_nodes import LabelNodes
from sskit.solvers.dual_decomposition.label_pairs.pair_table import PairTable
from sskit.solvers.oracle_calls.answers import BoundedGaps, Gaps, Hinges, InexactGaps
from sskit.solvers.oracle_calls.call import Visit
from sskit.solvers.oracle_calls.exact_pass import Evaluator
from sskit.solvers.oracle_calls.pool import Pool, PrecomputingPool, ThreadPool
from sskit.solvers.sharded.merge import BoxMerge, LineMerge, Merge
from sskit.solvers.sharded.rounds import Rounds
from sskit.solvers.sharded.shard import LoggingShard, Shard
from sskit.solvers.simplex_qp.program import SimplexProgram
from sskit.solvers.subgradient.subgradient_pass import SubgradientState
from sskit.testing.probe import ProblemProbe

SOLVERS = (BCFW, GDMM, Subgradient, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW)
SHORT = {"random_state": 0, "max_iter": 3, "tol": 1e-9}


def living_objects(types):
    """Return {type: one or two objects} of those types of which there are any.

    Parameters
    ----------
    types : list of type
        What to look for.
    """
    made = list(make())
    wanted, found, seen = set(types), {}, set()
    waiting = [*gc.get_objects(), *made]
    while waiting:
        item = waiting.pop()
        if type(item) not in wanted or id(item) in seen:
            continue
        seen.add(id(item))
        found.setdefault(type(item), []).append(item)
        names = [key for key in dir(type(item)) if not key.startswith("_")]
        waiting += [getattr(item, key) for key in names if not callable(getattr(type(item), key))]
    return {cls: items[:2] for cls, items in found.items()}


def make():
    """Yield what keeps objects alive: runs of all solvers, problems, and what looks into them."""
    yield TokenColumns(None, "=")
    yield TokenReader(TokenColumns({"a": 0}, "="), 1.0, 1, True)
    runs = []
    with recorded(runs), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for estimator, X, y in fits():
            estimator.fit(X, y)
    yield from runs
    chains, graphs, sets = chain_toy(), graph_toy(), multilabel_toy(inference="lp")
    structure = bind(Chains(3), chains.X, [labels[0] for labels in chains.pairs.labels])
    unreliable = UnreliableProblem(graphs.problem, 5), ForgetfulProblem(chains.problem, 5)
    unreliable += BoundingProblem(chains.problem), WrappedProblem(chains.problem)
    for problem in (chains.problem, structure, *unreliable):
        yield ProblemProbe(problem)
        yield DualProbe(problem, DualState(problem))
        yield problem.fork()
        for search in SEARCHES.values():
            with contextlib.suppress(ValueError):  # it has no oracle for this search
                yield search(problem, 0.0, 5)
    yield FactorProbe(chains.problem.decomposition())
    yield FactorProbe(LabelNodes(sets.problem.decomposition()))
    yield PlaneKeeper(3, 4, 1e6)
    yield MixVisitor(
        chains.problem,
        DualState(chains.problem),
        chains.regularizer(0.1),
        Averager(),
        np.zeros(chains.problem.n_blocks),
    )
    for cls in (SimplexProgram, StepProbe):
        yield cls([1.0, 2.0], [0.5, 0.5], np.eye(2), 0.5, 0.1)
    yield from small_things(chains, sets)
    yield from batches()


def edged_things(rows):
    """Yield a chain with features of edges, its factors, and a request."""
    edges, offsets, labels = FeatureRows(rows[:2]), np.array([0, 3]), np.zeros(3, dtype=np.int32)
    given = FeatureRows(rows), offsets, 2, labels, np.ones(3), np.ones(1), None, None, None, edges
    problem = EdgeChainProblem(*given)
    problem.prepare_steps()
    yield from (problem, problem.decomposition())
    scores, tables = RowScores(FeatureRows(rows), np.eye(2)), np.ones((2, 4))
    rest = np.eye(2), np.zeros(2), np.zeros(2), None, None, None
    yield EdgeChainRequest(scores, offsets, *rest, edges, tables)


def segment_things(rows):
    """Yield losses of segments, their scores, and a request."""
    codes, limits = np.array([1, 0, 3], dtype=np.int32), np.array([2, 1], dtype=np.int32)
    for loss in (SegmentLoss, TokenLoss):
        yield loss(codes, np.ones(3))
    yield SpanLoss(codes, np.ones(3), np.ones(2))
    yield from (SegmentTables(3, limits, True), SegmentMaxSum(3, 2), SegmentKBest(3, 2, 2, 2))
    yield PackedSegments(np.zeros((3, 2)), np.zeros((2, 2)), np.zeros((2, 2)))
    scores = [RowScores(FeatureRows(rows), np.eye(2)) for _ in range(3)]
    yield SegmentRequest(scores, np.array([0, 3]), limits, np.zeros(12), True)
    whole = WholeFeatures(np.zeros(6), np.array([0, 3]), 2, 1)
    yield from (whole, SegmentRequest(scores, np.array([0, 3]), limits, np.zeros(14), True, whole))


def second_things(rows):
    """Yield a request of the second order, and the search for its best labellings."""
    scores, offsets = RowScores(FeatureRows(rows), np.eye(2)), np.array([0, 3])
    rest = np.eye(2), np.zeros(2), np.zeros(2), None, None, None
    yield SecondChainRequest(scores, offsets, *rest, np.zeros((2, 2, 2)))


def small_things(chains, sets):
    """Yield objects that no fit keeps, or that the garbage collector does not know."""
    problem, rows = chains.problem, np.arange(6.0).reshape(3, 2)
    state = FactorState(problem.decomposition(), 0.1, 1.0, np.zeros(problem.n_weights + 16))
    yield from (state, ConsistentPoint(state), NodeSearch(state), OrderedSearch(state))
    yield Evaluator(problem)
    yield from (Hinges(problem, 5), Gaps(problem, 5, DualState(problem)))
    yield from (kind(problem, 5, DualState(problem)) for kind in (InexactGaps, BoundedGaps))
    yield from (Visit(problem), Mover(problem))
    yield from (
        PairTable(sets.problem.decomposition()),
        Direction(5),
        SumTree(np.ones(3)),
    )
    yield from (FeatureRows(rows), FeatureRows(sp.csr_array(rows)), WeightedAverager(4))
    yield RowGrams(FeatureRows(rows), np.array([0, 3]), np.array([0]), np.zeros(6))
    yield no_grams(2)
    scores, form = RowScores(FeatureRows(rows), np.eye(2)), PairForm(2, "potts")
    yield from (scores, Table(scores, np.zeros((3, 8))))
    yield from edged_things(rows)
    yield from segment_things(rows)
    yield from second_things(rows)
    yield PossibleScores(FeatureRows(rows), np.eye(2), None, None, np.eye(3, 2, dtype=bool))
    yield ChainPotentials(rows, np.array([0, 1, 3]), np.eye(2))
    yield ChainPotentials(rows, np.array([0, 1, 3]), np.ones((1, 2, 2)))
    one, two = np.zeros(1, dtype=np.int32), np.array([0, 3])
    tables = np.ones((1, 2, 2)), PairForm(2, "full")
    edge = np.array([[0, 1]], dtype=np.int32)
    yield TreePotentials(rows, two, edge, np.array([0, 1]), one, *tables)
    yield ChainRequest(scores, np.array([0, 1, 3]), np.eye(2), np.ones(2), np.ones(2))
    ends, edge_rows = np.array([[0, 1]], dtype=np.int32), FeatureRows(np.ones((1, 1)))
    offsets = np.array([0, 1])
    yield GraphRequest([scores], [edge_rows], np.ones(1), ends, offsets, form, Cut())
    yield from (SubgradientState(0.1, 4), PairForm(3, "symmetric"))
    yield GraphPotentials(np.zeros((3, 2)), [[0, 1]], [1.0])
    yield GridPotentials(np.zeros((2, 3, 4)), [-1, 0], np.ones((2, 1, 2, 3)), None)
    yield KernelRows(lambda some: np.ones((len(some), 3)), 3, 2, 2)
    yield SwappedPairs(3)
    yield ProblemProbe(ranking_toy().problem)
    yield from (HandleStore(["a", "b"], 3), Beam(3, 4, 2), Pool(problem))
    points = Points(np.arange(3.0))
    yield from (p.slack_oracle() for p in (problem, multiclass_toy().problem, sets.problem, points))
    pool, regularizer = ThreadPool(problem, 2), Regularizer(0.1, problem.n_weights)
    yield GDMM().start(problem, regularizer, np.random.RandomState(0)).sweep
    gaps = np.zeros(problem.n_blocks)
    dual = DualState(problem)
    rounds = Rounds(pool.crew, pool.problems, dual, regularizer, Averager(), gaps)
    yield from (rounds, *rounds.shards, BoxMerge(rounds.shards, regularizer, Averager()))
    logging = [
        LoggingShard(problem, dual, regularizer, True, k > 0)
        for k, problem in enumerate(pool.problems)
    ]
    cuts = pool.problems[0].cut_weights(len(logging))
    yield from (*logging, LineMerge(logging, regularizer, Averager(), cuts))
    yield from (Shard(problem, dual, regularizer), Merge(logging, regularizer, Averager()))
    yield from (SlackSearch(problem, 0.0, 5), PrecomputingPool(problem, None, 2), Stop())
    labels = np.array([0, 1, 1], dtype=np.int32)
    yield ChainProblem(
        FeatureRows(rows), np.array([0, 1, 3]), 2, labels, rows[:, 1].copy(), np.ones(2) / 2
    )


def batches():
    """Yield batches of potentials and what is done with them."""
    ends, zeros = np.array([[0, 1], [1, 2]], dtype=np.int32), np.zeros(2, dtype=np.int64)
    first, length = np.array([0, 3]), np.array([3, 3])
    words, edges = ("sample", "node", "label"), np.array([2, 2])
    nodes, tables = Numbers(np.arange(12.0)), Numbers(np.ones(4, dtype=np.float32))
    chains = Batch(nodes, 2, first, length, tables, 4, zeros, 0, edges, words)
    graphs = Batch(nodes, 2, first, length, tables, 4, zeros, 0, edges, words, ends, zeros)
    labels, cost = np.array([0, 1, -1, 1, 0, 0], dtype=np.int32), np.ones(6)
    out, sums = np.zeros((6, 2)), np.zeros(2)
    truths, found = Truths(chains, labels, cost, None), Found(chains)
    yield from (nodes, tables, chains, graphs, truths, found, BatchTask(chains, 2))
    yield ChainTask(chains, 2)
    levels = np.ones(6, dtype=np.int32)
    tasks = [ChainSlack(chains, 2, truths, found, levels, np.ones(2))]
    tasks += [kind(chains, 2, truths, found) for kind in (ChainHinge, ChainDecode)]
    tasks += [ChainMaxMarginals(chains, 2, out), ChainMarginals(chains, 2, out, sums)]
    tasks += [kind(graphs, 2, False, truths, found) for kind in (GraphHinge, GraphDecode)]
    tasks += [TreeMaxMarginals(graphs, 2, True, out)]
    tasks += [TreeMarginals(graphs, 2, True, out, sums)]
    for task in tasks:
        task.run(Crew(2))
        yield task
    yield from (GraphTask(graphs, 1, False), GraphWorker(graphs, False))


def fits():
    """Yield estimators and data for a fit of a few passes of every solver and model."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
    rows = sskit.StructSVMClassifier
    for sampling in ("permutation", "uniform", "gap", "max_gap"):
        yield rows(solver=BCFW(steps="fw", sampling=sampling), **SHORT), X, y
    for steps in ("pairwise", "away"):
        solver = BCFW(steps=steps, cache=True, stored_passes=2)
        yield rows(solver=solver, **SHORT), X, y
    for solver in (MultiPlane(), FrankWolfe(), Subgradient(), CuttingPlane()):
        yield rows(solver=solver, **SHORT), X, y
    yield rows(bounds=(-1.0, 1.0), n_jobs=2, solver=BCFW(batch_size=4), **SHORT), X, y
    yield rows(kernel="rbf", **SHORT), X, y
    yield rows(kernel="rbf", kernel_cache=1e-4, solver=CuttingPlane(), **SHORT), X, y
    yield rows(model=Classes(3), **SHORT), list(X), list(y)
    yield rows(n_components=2, n_init=2, **SHORT), X, y
    yield rows(model=Started(3, 2, 3), n_init=2, **SHORT), list(X), y.tolist()
    sequences, labels = [X[:4], X[4:7], X[7:]], [y[:4], y[4:7], y[7:]]
    tagger = sskit.SequenceTagger
    options = [{}, {"kernel": "rbf"}, {"rescaling": "slack"}, {"solver": SoftBCFW()}]
    options += [{"ignore_label": 1}, {"order": 2}]
    options += [{"rescaling": SlackRescaling("bisecting")}, {"solver": GDMM()}]
    options += [{"solver": GDMM(method=method)} for method in ("afw", "bgcd")]
    for option in options:
        with contextlib.suppress(ValueError):
            yield tagger(**option, **SHORT), sequences, labels
    spans = [[(0, 2, "x")], [], [(1, 3, "y")]]
    for option in ({}, {"loss": "hamming", "first_last": False, "rescaling": "slack"}):
        yield sskit.SegmentTagger(**option, **SHORT), sequences, spans
    edges = np.array([[0, 1], [1, 2]])
    graphs = [(X[:3], edges, np.ones((2, 1))), (X[3:6], edges, np.ones((2, 1)))]
    kinds = ("expansion", 3, "potts"), ("trws", 3, "full"), ("graphcut", 2, "potts")
    for inference, n_labels, form in (*kinds, ("elimination", 3, "potts")):
        model = sskit.SegmentationModel(inference=inference, pairwise_form=form, **SHORT)
        yield model, graphs, [np.arange(3) % n_labels, np.arange(3)[::-1] % n_labels]
    for inference in ("auto", "elimination", "qpbo", "trws"):
        for form in ("directed", "potts"):
            n_labels = 2 if inference == "qpbo" else 3
            model = sskit.GraphTagger(inference=inference, pairwise_form=form, **SHORT)
            yield model, graphs, [np.arange(3) % n_labels, np.arange(3)[::-1] % n_labels]
    sets = rng.integers(2, size=(12, 4))
    for inference in ("exhaustive", "tree", "lp"):
        pairs = "tree" if inference == "tree" else "full"
        for option in ({}, {"rescaling": "slack"}, {"solver": "gdmm"}):
            if inference == "exhaustive" and "solver" in option:
                continue
            model = sskit.MultilabelPairwise(edges=pairs, inference=inference, **option, **SHORT)
            yield model, X, sets
    for hierarchy in ([-1, 0, 0, -1], [[1, 0], [2, 0], [3, 1], [3, 2]]):
        for option in ({}, {"rescaling": "slack"}):
            yield sskit.HierarchicalMultilabel(hierarchy, **option, **SHORT), X, sets
    trees = [(x, random_parents(rng, len(x))) for x in sequences]
    yield sskit.TreeTagger(**SHORT), trees, labels
    yield sskit.TreeTagger(ignore_label=1, **SHORT), trees, labels
    yield sskit.RankingSVM(**SHORT), X, y
    maps = list(rng.normal(size=(3, 2, 5, 6)))
    places = list(rng.integers(5, size=(3, 2, 2)))
    for loss in ("squared", "distance"):
        yield sskit.PartsModel([-1, 0], loss=loss, **SHORT), maps, places


@contextlib.contextmanager
def recorded(runs):
    """Keep every run that a solver starts."""
    starts = {cls: cls.start for cls in SOLVERS}

    def recording(start):
        def begin(*args, **options):
            runs.append(start(*args, **options))
            return runs[-1]

        return begin

    for cls, start in starts.items():
        cls.start = recording(start)
    try:
        yield
    finally:
        for cls, start in starts.items():
            cls.start = start
