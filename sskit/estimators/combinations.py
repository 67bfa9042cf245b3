"""The table of capabilities: parameters, data and tools that cannot be combined."""

from functools import cache
from itertools import product

from sskit.solvers import GDMM, SoftBCFW


def _is(name, value):
    """Return a function that tests whether a parameter, where there is one, has a value."""
    return lambda estimator: str(getattr(estimator, name, None)) == str(value)


def _has(name, without=None):
    """Return a function that tests whether a parameter is not at its neutral value."""
    return lambda estimator: str(getattr(estimator, name, without)) != str(without)


def _has_several(name):
    """Return a function that tests whether a number by label, or one for all, exceeds one."""

    def asked(estimator):
        number = getattr(estimator, name, 1)
        return any(n != 1 for n in (number.values() if isinstance(number, dict) else [number]))

    return asked


def _averages(solver):
    """Return whether a solver averages weights though that is not its default."""
    averaging = getattr(solver, "averaging", None)
    return averaging is True and type(solver)().averaging is not True


# Does an estimator minimise the negative log-likelihood?
is_likelihood = _is("surrogate", "log")


several_states = _has_several("n_states_per_label")
# What parameters can require: its name in messages, and a test of an estimator. Data and tools
# require more, see their checks.
ASKED = {
    "kernel": ("kernel={e.kernel!r:.80}", _has("kernel", "linear")),
    "sum of hinges": ("surrogate={e.surrogate!r}", _is("surrogate", "weston_watkins")),
    "log": ("surrogate='log'", is_likelihood),
    "hinge": ("the hinge", lambda e: not is_likelihood(e)),
    "class weights": ("class_weight={e.class_weight!r:.80}", _has("class_weight")),
    "loss": (
        "loss={e.loss!r:.80}",
        lambda e: not isinstance(e.loss, str) or type(e)().loss != e.loss,
    ),
    "order": ("order=2", _is("order", 2)),
    "beam": ("beam_size={e.beam_size!r}", _has("beam_size")),
    "slack": ("rescaling={e.rescaling!r}", lambda e: e._rescaling() is not None),
    "prior": ("a prior", lambda e: e.prior is not None),
    "fitted prior": ("a fitted estimator as prior", lambda e: hasattr(e.prior, "fit")),
    "bounds": ("bounds", lambda e: e.bounds is not None),
    "standardize": ("standardize=True", _is("standardize", True)),
    "balanced": ("class_weight='balanced'", _is("class_weight", "balanced")),
    "balanced loss": ("loss='balanced'", _is("loss", "balanced")),
    "repair": (
        "on_violation='repair'",
        lambda e: _is("on_violation", "repair")(e) and e.allowed_transitions is not None,
    ),
    "balanced repair": (
        "on_violation='repair' and class_weight='balanced'",
        lambda e: ASKED["repair"][1](e) and ASKED["balanced"][1](e),
    ),
    "states": ("n_states_per_label={e.n_states_per_label!r:.80}", several_states),
    "components": ("n_components={e.n_components!r:.80}", _has_several("n_components")),
    "latent types": ("latent_types=True", _is("latent_types", True)),
    "drawn types": (
        "n_types={e.n_types!r} without means",
        lambda e: getattr(e, "n_types", 1) > 1 and e.means is None,
    ),
    "warm start": ("warm_start=True", lambda e: bool(e.warm_start)),
    "fit in one piece": (
        "warm_start=True and a last fit to data in one piece",
        lambda e: e.warm_start and "_warm_start" in vars(e),
    ),
    "projection": ("steps={e.steps!r}", _is("steps", "projection")),
}
# What the solver can require: its name in messages, and a test of the solver.
_SOLVER = "solver={e.solver!r:.80}"
ASKED_BY_SOLVER = {
    "solver of hinges": (_SOLVER, lambda solver: not solver.takes_likelihood),
    "smooth solver": (_SOLVER, lambda solver: solver.takes_likelihood),
    "no dual point": (_SOLVER, lambda solver: not solver.keeps_dual_point),
    "averaging": ("averaging=True", _averages),
    "no bounds": (_SOLVER, lambda solver: not solver.keeps_bounds),
    "no prior": (_SOLVER, lambda solver: not solver.keeps_prior),
    "node by node": (_SOLVER, lambda solver: isinstance(solver, (GDMM, SoftBCFW))),
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
    ("log", "kernel", "not yet: there are no sums over labellings of functions"),
    ("log", "slack", "a likelihood has no losses; use rescaling='margin'"),
    ("log", ("loss", "class weights"), "a likelihood has no losses; leave it at its default"),
    ("log", "token weights", "a likelihood has no losses; weigh whole sequences by sample_weight"),
    ("log", "bounds", "not yet: its solver keeps no weights within bounds"),
    ("log", HIDDEN, "not yet: there are no sums over what is hidden"),
    ("log", "parts", "not yet: train on data in one piece"),
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
    ("bounds", "no bounds", "it does not keep weights within bounds; use 'bcfw'"),
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

    asked |= estimator._asks()

    @cache
    def made_solver():
        return estimator._make_solver() if solver is None else solver

    @cache
    def named(name):
        if name in asked:
            return asked[name]
        if name in ASKED_BY_SOLVER:
            words, asks = ASKED_BY_SOLVER[name]
            return words.format(e=estimator) if asks(made_solver()) else None
        words, asks = ASKED.get(name, ("", lambda estimator: False))
        return words.format(e=estimator) if asks(estimator) else None

    for one, other, why in REFUSALS:
        for pair in product(*([x] if isinstance(x, str) else x for x in (one, other))):
            if named(pair[0]) and named(pair[1]):
                return f"{named(pair[0])} cannot be combined with {named(pair[1])}: {why}"
    return None


def check_combinations(estimator, solver=None, **asked):
    """Raise ValueError if things cannot be combined; see `refusal`."""
    reason = refusal(estimator, solver, **asked)
    if reason is not None:
        raise ValueError(reason)
