"""The table of capabilities: parameters, data and tools that cannot be combined."""

from functools import partial
from itertools import product

from sskit.solvers import GDMM, LBFGS, ExponentiatedGradient, SoftBCFW

# What parameters can require, and its name in messages; `asked_by` tells which of it an estimator
# does. Data and tools require more, see their checks.
ASKED = {
    "kernel": "kernel={e.kernel!r:.80}",
    "sum of hinges": "surrogate={e.surrogate!r}",
    "log": "surrogate='log'",
    "hinge": "the hinge",
    "class weights": "class_weight={e.class_weight!r:.80}",
    "loss": "loss={e.loss!r:.80}",
    "order": "order=2",
    "beam": "beam_size={e.beam_size!r}",
    "slack": "rescaling={e.rescaling!r}",
    "prior": "a prior",
    "fitted prior": "a fitted estimator as prior",
    "bounds": "bounds",
    "kernel log": "a kernel and surrogate='log'",
    "standardize": "standardize=True",
    "balanced": "class_weight='balanced'",
    "balanced loss": "loss='balanced'",
    "repair": "on_violation='repair'",
    "balanced repair": "on_violation='repair' and class_weight='balanced'",
    "states": "n_states_per_label={e.n_states_per_label!r:.80}",
    "components": "n_components={e.n_components!r:.80}",
    "latent types": "latent_types=True",
    "drawn types": "n_types={e.n_types!r} without means",
    "warm start": "warm_start=True",
    "fit in one piece": "warm_start=True and a last fit to data in one piece",
    "projection": "steps={e.steps!r}",
}
# What the solver can require, likewise.
ASKED_BY_SOLVER = {
    **dict.fromkeys(("solver of hinges", "smooth solver"), "solver={e.solver!r:.80}"),
    **dict.fromkeys(("no dual point", "no bounds", "no prior"), "solver={e.solver!r:.80}"),
    "averaging": "averaging=True",
    **dict.fromkeys(("node by node", "dual steps", "gradients"), "solver={e.solver!r:.80}"),
}
HIDDEN = "states", "components", "latent types", "latent model", "hidden"
# What cannot be combined with what, each with its reason.
REFUSALS = (
    ("kernel", "prior", "the weights are functions of these training data"),
    ("kernel", "bounds", "the weights are functions, which have no entries to put bounds on"),
    ("kernel", "order", "in a kernel space there are weights of two labels in a row only"),
    ("kernel", "edges", "in a kernel space transitions have no features"),
    ("standardize", "kernel", "a kernel takes features as they are; leave it at 'auto'"),
    ("sum of hinges", "kernel", "of functions the largest hinge counts; leave it at 'auto'"),
    ("sum of hinges", "slack", "its losses are those of one label; leave it at 'auto'"),
    ("sum of hinges", "components", "a class has the score of its best one; leave it at 'auto'"),
    ("log", "solver of hinges", "it is for hinges; use 'auto' or 'lbfgs'"),
    ("hinge", "smooth solver", "it is for the likelihood, surrogate='log'; use 'bcfw'"),
    ("kernel", "gradients", "its steps are those of weights, not of functions; use 'auto'"),
    ("log", "slack", "a likelihood has no losses; use rescaling='margin'"),
    ("log", ("loss", "class weights"), "a likelihood has no losses; leave it at its default"),
    ("log", "token weights", "a likelihood has no losses; weigh whole sequences by sample_weight"),
    (
        "kernel log",
        ("order", "unknown", "states", "segments", "path", "parts"),
        "not yet: there a likelihood needs dual steps, which do not take it",
    ),
    ("log", HIDDEN[1:], "not yet: there are no sums over what is hidden"),
    (
        "order",
        "dual steps",
        "its dual point would have all triples of labels for each sequence; use 'lbfgs'",
    ),
    (("unknown", "states"), "dual steps", "the likelihood is then not convex; use 'lbfgs'"),
    (
        "segments",
        "dual steps",
        "not yet: its first visit of a sequence favours labels; use 'lbfgs'",
    ),
    ("path", "dual steps", "not yet: it keeps other dual points than those of paths; use 'lbfgs'"),
    ("order", "beam", "the search keeps all labels; set beam_size=None"),
    (("unknown", *HIDDEN), "kernel", "labels must all be known; use kernel='linear'"),
    ("unknown", "repair", "labels must all be known; use 'raise' or 'ignore'"),
    (("sets", "states"), "node by node", "one label must be right, or one state; use 'bcfw'"),
    ("costs of pairs", "node by node", "it takes one cost for each token; use 'bcfw'"),
    (
        ("slack", "kernel", "order"),
        "node by node",
        "scores and losses must be sums over nodes and edges with weights of their own; use 'bcfw'",
    ),
    ("bounds", "no bounds", "it does not keep weights within bounds; use 'auto'"),
    ("prior", "no prior", "its steps shrink weights towards zero; use 'bcfw'"),
    ("slack", "projection", "it is for margin rescaling; use 'pairwise'"),
    (
        "labelling",
        "states",
        "the most probable labelling has the largest sum over its states, which is NP-hard to "
        "find; use risk=None, the labels of the best states, or 'tokens'",
    ),
    ("states", "prior", "its states would not be those of new clusters"),
    ("components", "fitted prior", "components of two fits have no common order; give arrays"),
    (
        "of segments",
        "states",
        "they would be sums over the states of segments; leave it at 1",
    ),
    ("of segments", "unknown", "not yet: there are no sums over segments that agree with a part"),
    ("latent model", "warm start", "completed labellings are numbered anew by every fit"),
    ("warm start", "no dual point", "it keeps no dual point to start from; use 'bcfw'"),
    (("parts", "path"), "no dual point", "it keeps no dual point; use 'bcfw' or 'frank_wolfe'"),
    ("path", ("unknown", *HIDDEN), "the objective is not convex; search lam with GridSearchCV"),
    ("parts", "averaging", "weights of parts are not averaged; leave it at 'auto'"),
    ("parts", "kernel", "the weights are functions of all training rows"),
    ("parts", "fit in one piece", "set warm_start=False to start anew"),
    ("parts", "balanced repair", "it counts the labels of all parts once they are repaired"),
    ("parts", HIDDEN, "hidden parts are completed over all data"),
    ("parts", "drawn types", "types are clusters of the poses of all parts; set means"),
    ("parts", "unready model", "give PystructAdapter(model, initialize=False), initialised"),
    ("parts", "groups", "a set of rows need not lie within one part"),
    ("steps", "kernel", "the weights are functions of all training data"),
    ("steps", HIDDEN[1:], "hidden parts are completed over all data"),
    ("steps", "warm start", "steps keep no dual point of the samples before"),
    ("steps", "balanced", "it does not have all labels in advance; give a dict"),
    ("steps", "balanced loss", "it does not have all labels in advance; use 'hamming'"),
)


def is_likelihood(estimator):
    """Return whether an estimator minimises the negative log-likelihood."""
    return str(getattr(estimator, "surrogate", None)) == "log"


def has_kernel(estimator):
    """Return whether the parameters of an estimator name a kernel that is not the linear one."""
    return str(getattr(estimator, "kernel", "linear")) != "linear"


def several(number):
    """Return whether a number by label, or one for all, exceeds one."""
    return any(n != 1 for n in (number.values() if isinstance(number, dict) else [number]))


def asked_by(estimator, solver):
    """Return the set of what parameters and a solver require, by the names of the tables.

    Truth values and numbers are compared as strings, for searches over arrays set NumPy's.
    """
    value, likelihood = partial(getattr, estimator), is_likelihood(estimator)
    loss, averaging = value("loss", None), getattr(solver, "averaging", None)
    named_loss, class_weight = isinstance(loss, str), value("class_weight", None)
    if named_loss:
        default_loss = type(estimator).__dataclass_fields__["loss"].default
    kernel = has_kernel(estimator)
    repairs = value("on_violation", None) == "repair" and estimator.allowed_transitions is not None
    balances = isinstance(class_weight, str) and class_weight == "balanced"
    asks = {
        "kernel": kernel,
        "sum of hinges": value("surrogate", None) == "weston_watkins",
        "log": likelihood,
        "hinge": not likelihood,
        "class weights": class_weight is not None,
        "loss": loss is not None and not (named_loss and loss == default_loss),
        "order": str(value("order", None)) == "2",
        "beam": value("beam_size", None) is not None,
        "slack": estimator.rescaling != "margin",
        "prior": estimator.prior is not None,
        "fitted prior": hasattr(estimator.prior, "fit"),
        "bounds": estimator.bounds is not None,
        "kernel log": kernel and likelihood,
        "standardize": str(value("standardize", None)) == "True",
        "balanced": balances,
        "balanced loss": named_loss and loss == "balanced",
        "repair": repairs,
        "balanced repair": repairs and balances,
        "states": several(value("n_states_per_label", 1)),
        "components": several(value("n_components", 1)),
        "latent types": str(value("latent_types", None)) == "True",
        "drawn types": value("n_types", 1) > 1 and estimator.means is None,
        "warm start": bool(estimator.warm_start),
        "fit in one piece": estimator.warm_start and "_warm_start" in vars(estimator),
        "projection": value("steps", None) == "projection",
        "solver of hinges": not solver.takes_likelihood,
        "smooth solver": solver.takes_likelihood,
        "no dual point": not solver.keeps_dual_point,
        # though that is not its default
        "averaging": averaging is True and type(solver)().averaging is not True,
        "no bounds": not solver.keeps_bounds,
        "no prior": not solver.keeps_prior,
        "node by node": isinstance(solver, (GDMM, SoftBCFW)),
        "dual steps": isinstance(solver, ExponentiatedGradient),
        "gradients": isinstance(solver, LBFGS),
    }
    return {name for name, true in asks.items() if true}


def refusal(estimator, solver=None, **asked):
    """Return why things cannot be combined, or None if they can.

    Parameters
    ----------
    estimator : StructuredEstimator
        Has the parameters, each within its constraints.
    solver : Solver, default=None
        That of the parameters, if it has been made.
    **asked : str
        What else is asked for, by the names of `REFUSALS`: how messages call it.

    Returns
    -------
    reason : str or None
        A sentence that names both.
    """
    solver = estimator._make_solver() if solver is None else solver
    asked |= estimator._asks
    required = asked_by(estimator, solver) - asked.keys()
    required |= {name for name, words in asked.items() if words}
    words = ASKED | ASKED_BY_SOLVER
    for one, other, why in REFUSALS:
        for pair in product(*([x] if isinstance(x, str) else x for x in (one, other))):
            if required.issuperset(pair):
                first, second = (
                    asked.get(name) or words[name].format(e=estimator) for name in pair
                )
                return f"{first} cannot be combined with {second}: {why}"
    return None


def check_combinations(estimator, solver=None, **asked):
    """Raise ValueError if things cannot be combined; see `refusal`."""
    reason = refusal(estimator, solver, **asked)
    if reason is not None:
        raise ValueError(reason)
