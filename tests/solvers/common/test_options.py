"""Options and problems of solvers: what is wrong is refused by name; resolved ones say all."""

import itertools

import numpy as np
import pytest
from helpers.toys import TOYS, chain_toy
from scipy.sparse import csr_array
from sskit_probes.unreliable import UnreliableProblem

from sskit.solvers import (
    BCFW,
    GDMM,
    LBFGS,
    CuttingPlane,
    ExponentiatedGradient,
    FrankWolfe,
    MultiPlane,
    SoftBCFW,
    Subgradient,
)

SOLVERS = [BCFW, MultiPlane, FrankWolfe, Subgradient, CuttingPlane, GDMM, SoftBCFW]
WORD, TRUTH = r"a str among \{.*\}", r"a bool among \{.*\}"
COUNT, NATURAL = r"an int in the range \[1, inf\)", r"an int in the range \[0, inf\)"
POSITIVE, FINITE = r"a float in the range \(0.0, inf\]", r"a float in the range \(0.0, inf\)"
NEVER = f"{POSITIVE} or None"
# What parameters must be, values that are something else, and the parameters of solvers.
WRONG = [
    (WORD, ["newton", None, 1], {
        BCFW: "steps sampling", MultiPlane: "steps sampling", Subgradient: "sampling",
        CuttingPlane: "cuts", GDMM: "method", SoftBCFW: "steps",
    }),
    (WORD, ["auto"], {MultiPlane: "steps sampling"}),
    (WORD, ["gap"], {Subgradient: "sampling"}),
    (WORD, ["pairwise"], {GDMM: "method", SoftBCFW: "steps"}),
    (f"{WORD} or {TRUTH}", [0, 1, "yes"], {BCFW: "cache averaging"}),
    (TRUTH, [0, "auto"], {MultiPlane: "clock averaging", Subgradient: "averaging"}),
    (f"{WORD} or {COUNT}", [0, None, 2.0, True, "many", np.ones(2)],
     {BCFW: "block_steps batch_size"}),
    (f"{WORD} or {NATURAL}", [-1, 0.5, False, 0.0, "steep"], {BCFW: "stored_passes"}),
    (COUNT, [0, 2.0, 2.5, True, None, "auto"], {
        BCFW: "gap_every", MultiPlane: "block_steps max_planes plane_life gap_every",
        FrankWolfe: "gap_every", Subgradient: "gap_every", CuttingPlane: "cut_life",
    }),
    (f"{COUNT} or None", [0, 2.0, np.ones(2)], {GDMM: "gap_every", SoftBCFW: "gap_every"}),
    (NATURAL, [-1, 1.0, False], {MultiPlane: "max_stored_passes"}),
    (POSITIVE, [0, -1.0, None, "1", np.nan, 10**400, -(10**400), csr_array(np.eye(2))],
     {BCFW: "cache_size", MultiPlane: "cache_size"}),
    (NEVER, [0, -1, np.nan, True], dict.fromkeys(SOLVERS, "max_time")),
    (FINITE, [0.0, -1, np.inf, "much"], {GDMM: "rho step", SoftBCFW: "rho"}),
    (r".*a float in the range \[0.0, 1.0\)", [1.0, -0.1, "none", True], {CuttingPlane: "damping"}),
    (".*", [np.nan], {CuttingPlane: "damping"}),
    (f".*{COUNT}", [0, 10.0, True, "all", None], {CuttingPlane: "cut_size"}),
    (f".*{COUNT}", [0], {CuttingPlane: "patience"}),
]  # fmt: skip


@pytest.mark.parametrize("kind", SOLVERS)
def test_wrong_options(kind):
    toy = chain_toy(51)
    for expected, values, parameters in WRONG:
        for name, value in itertools.product(parameters.get(kind, "").split(), values):
            message = f"^The '{name}' parameter of {kind.__name__} must be {expected}"
            shown = f". Got {value!r}".partition("array")[0].partition("<")[0]
            with pytest.raises(ValueError, match=message + shown):
                kind(**{name: value}).solve(toy.problem, toy.regularizer(0.1))


def test_what_solvers_cannot_solve():
    toy = chain_toy(51)
    box = toy.regularizer(0.1, (np.zeros(toy.pairs.d), np.ones(toy.pairs.d)))
    prior = toy.regularizer(0.1)
    prior.set_prior(np.ones(toy.pairs.d))
    for solver, options, message in [
        *((solver, {"regularizer": box}, f"^{type(solver).__name__} cannot .* problems with bounds")
          for solver in (GDMM(), SoftBCFW(), Subgradient())),
        (Subgradient(), {"regularizer": prior}, "Subgradient cannot solve problems with a prior"),
        (LBFGS(), {}, "LBFGS needs a likelihood, which ChainStructure does not"),
        (ExponentiatedGradient(), {}, r"a likelihood of labels .* use LBFGS\(\)"),
        *((solver, {"start": object()}, f"^{type(solver).__name__} keeps no dual point and cannot")
          for solver in (GDMM(), SoftBCFW(), Subgradient())),
        *((solver, {"problem": TOYS[kind](14).problem}, f"'{name}' needs .* and edges.*Structure")
          for solver, name in ((GDMM(), "gdmm"), (SoftBCFW(), "soft_bcfw"))
          for kind in ("multiclass", "graph")),
    ]:  # fmt: skip
        given = {"problem": toy.problem, "regularizer": toy.regularizer(0.1)} | options
        with pytest.raises(ValueError, match=message):
            solver.solve(**given)


def test_numbers_of_numpy_are_numbers_and_some_may_be_infinite():
    BCFW(block_steps=np.int32(3), cache_size=np.float32(2.0), gap_every=2**70).check()
    BCFW(cache_size=np.inf, max_time=np.inf, stored_passes=np.int64(0)).check()


def test_resolved_solvers_name_what_they_do():
    problem = chain_toy(51).problem
    costly = UnreliableProblem(problem, 0, costly=True)
    asked = {"steps": "away", "cache": True, "block_steps": 3, "stored_passes": 2}
    for solver, of, expected in [
        (BCFW(averaging=False), problem, {
            "averaging": False, "batch_size": 1, "block_steps": 5, "cache": False,
            "cache_size": 1000.0, "gap_every": 10, "max_time": None, "sampling": "permutation",
            "steps": "pairwise", "stored_passes": "slope",
        }),
        (BCFW(steps="fw", sampling="gap"), problem, {
            "steps": "fw", "sampling": "gap", "cache": False, "block_steps": 1,
            "stored_passes": 0, "averaging": True,
        }),
        (BCFW(**asked), problem, asked),
        (BCFW(), costly, {
            "sampling": "gap", "cache": True, "averaging": False, "steps": "pairwise",
            "stored_passes": "slope",
        }),
        (BCFW(steps="fw"), costly, {"cache": False}),
        (Subgradient(gap_every=3), problem, {"averaging": True, "gap_every": 3}),
        (FrankWolfe(max_time=1.0), problem, {"max_time": 1.0}),
        (MultiPlane(), problem, {}),
    ]:  # fmt: skip
        resolved = solver.resolved(of)
        assert expected.items() <= resolved.get_params().items()
        assert resolved.resolved(of).get_params() == resolved.get_params()
        assert "auto" not in resolved.get_params().values()
    for options, expected in [
        ({"cuts": "constant"}, (300, 10, "auto")),
        ({"cuts": "linear", "cut_size": 7}, (7, "auto", 0.8)),
        ({"damping": 0.5, "cut_size": 8}, (8, "auto", 0.5)),
    ]:
        cuts = CuttingPlane(**options).resolved(None)
        assert (cuts.cut_size, cuts.patience, cuts.damping) == expected
