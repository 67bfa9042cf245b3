"""Solvers with options of all kinds, for laws that hold for all of them."""

from sskit.models.likelihood.log_loss import likelihood_of
from sskit.solvers import (
    BCFW,
    LBFGS,
    CuttingPlane,
    ExponentiatedGradient,
    FrankWolfe,
    MultiPlane,
    Subgradient,
)

SOLVERS = {
    "plain": BCFW(steps="fw", averaging=False),
    "plain, averaging": BCFW(steps="fw", sampling="uniform", averaging=True),
    "plain, batches": BCFW(steps="fw", sampling="gap", batch_size=4, averaging=False),
    "auto": BCFW(),
    "pairwise": BCFW(steps="pairwise", averaging=False),
    "pairwise, averaging": BCFW(steps="pairwise", stored_passes=2, averaging=True, gap_every=2),
    "pairwise, batches": BCFW(sampling="max_gap", cache=True, batch_size=3, averaging=False),
    "cache": BCFW(sampling="gap", cache=True, stored_passes=2, averaging=False),
    "away, averaging": BCFW(steps="away", sampling="gap", cache=True, averaging=True),
    "mpbcfw": MultiPlane(averaging=False),
    "mpbcfw, averaging": MultiPlane(steps="pairwise", sampling="gap", gap_every=3),
    "mpbcfw, away": MultiPlane(steps="away"),
    "fw": FrankWolfe(),
    "ssg": Subgradient(),
    "ssg, last": Subgradient(averaging=False),
    "cuts": CuttingPlane(),
    "cuts, undamped": CuttingPlane(damping=0.0, cut_life=5),
}
# Those that keep a dual point, and those of them whose certificate is that of the last iterate.
DUAL = [name for name in SOLVERS if not name.startswith(("ssg", "cuts"))]
LAST = [name for name in DUAL if getattr(SOLVERS[name], "averaging", None) is not True]
# Cuts of so few samples that runs differ by their draws.
SAMPLED = {cuts: CuttingPlane(cuts=cuts, cut_size=6) for cuts in ("linear", "constant")}
LIKELIHOOD = {
    "lbfgs": LBFGS(),
    "lbfgs, one step": LBFGS(memory=1),
    "eg": ExponentiatedGradient(),
}


def bound_for(solver, toy):
    """A toy with the problem that a solver takes: the likelihood of its labels, if that is one."""
    return toy.bound_to(likelihood_of(toy.problem)) if solver.takes_likelihood else toy
