"""Options of solvers: wrong ones are refused by name, and resolved ones say what is done."""

import numpy as np
import pytest
from helpers.toys import chain_toy
from scipy.sparse import csr_array
from sskit_probes.unreliable import UnreliableProblem

from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient

WORD, TRUTH = r"a str among \{.*\}", r"a bool among \{.*\}"
COUNT, NATURAL = r"an int in the range \[1, inf\)", r"an int in the range \[0, inf\)"
POSITIVE, FINITE = r"a float in the range \(0.0, inf\]", r"a float in the range \(0.0, inf\)"
NOT_ONE = [0, None, "1", np.nan, 10**400, -(10**400), csr_array(np.eye(2))]
# What parameters must be, and values that are something else.
WRONG = [
    (BCFW, "steps", WORD, ["newton", None]),
    (BCFW, "sampling", WORD, [None, 1]),
    (BCFW, "cache", f"{WORD} or {TRUTH}", [0, 1, "yes"]),
    (BCFW, "block_steps", f"{WORD} or {COUNT}", [0, None, 2.0, True, np.ones(2)]),
    (BCFW, "stored_passes", f"{WORD} or {NATURAL}", [-1, 0.5, False, 0.0, "steep"]),
    (BCFW, "cache_size", POSITIVE, NOT_ONE),
    (BCFW, "averaging", f"{WORD} or {TRUTH}", [1]),
    (BCFW, "batch_size", f"{WORD} or {COUNT}", [0, 2.0, "many"]),
    (BCFW, "gap_every", COUNT, [0, 2.0, True, None]),
    (BCFW, "max_time", f"{POSITIVE} or None", [-1, np.nan, True]),
    (MultiPlane, "steps", WORD, ["auto"]),
    (MultiPlane, "sampling", WORD, ["auto"]),
    (MultiPlane, "block_steps", COUNT, [0, "auto"]),
    (MultiPlane, "max_stored_passes", NATURAL, [-1, 1.0, False]),
    (MultiPlane, "max_planes", COUNT, [0]),
    (MultiPlane, "plane_life", COUNT, [2.5, 0]),
    (MultiPlane, "clock", TRUTH, [0]),
    (MultiPlane, "averaging", TRUTH, ["auto"]),
    (MultiPlane, "cache_size", POSITIVE, [-1.0]),
    (MultiPlane, "gap_every", COUNT, [0]),
    (MultiPlane, "max_time", f"{POSITIVE} or None", [0]),
    (FrankWolfe, "gap_every", COUNT, ["2"]),
    (Subgradient, "sampling", WORD, ["gap"]),
    (Subgradient, "averaging", TRUTH, ["yes"]),
    (CuttingPlane, "damping", r".*a float in the range \[0.0, 1.0\)", [1.0, -0.1, "none", True]),
    (CuttingPlane, "damping", ".*", [np.nan]),
    (CuttingPlane, "cut_life", COUNT, [0, 2.0]),
    (CuttingPlane, "cuts", WORD, ["quadratic", None]),
    (CuttingPlane, "cut_size", f".*{COUNT}", [0, 10.0, True, "all", None]),
    (CuttingPlane, "patience", f".*{COUNT}", [0]),
    (CuttingPlane, "max_time", f"{POSITIVE} or None", [0]),
    (GDMM, "rho", FINITE, [0.0, np.inf, "much"]),
    (GDMM, "step", FINITE, [-1, np.inf]),
    (GDMM, "method", WORD, ["fw"]),
    (GDMM, "gap_every", f"{COUNT} or None", [0, np.ones(2)]),
    (GDMM, "max_time", f"{POSITIVE} or None", [0]),
    (SoftBCFW, "rho", FINITE, [0.0, np.inf]),
    (SoftBCFW, "steps", WORD, ["pairwise"]),
    (SoftBCFW, "gap_every", f"{COUNT} or None", [0]),
    (SoftBCFW, "max_time", f"{POSITIVE} or None", [0]),
]


@pytest.mark.parametrize("kind", dict.fromkeys(row[0] for row in WRONG))
def test_wrong_options(kind):
    toy = chain_toy(51)
    for name, expected, values in (row[1:] for row in WRONG if row[0] is kind):
        for value in values:
            message = f"^The '{name}' parameter of {kind.__name__} must be {expected}"
            shown = f". Got {value!r}".partition("array")[0].partition("<")[0]
            with pytest.raises(ValueError, match=message + shown):
                kind(**{name: value}).solve(toy.problem, toy.regularizer(0.1))


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
        (Subgradient(gap_every=3), problem, {
            "averaging": True, "gap_every": 3, "max_time": None, "sampling": "permutation",
        }),
        (Subgradient(sampling="uniform"), problem, {"sampling": "uniform"}),
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
