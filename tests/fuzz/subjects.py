"""Valid calls on tiny data: what the fuzzer starts from."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from helpers import fits
from helpers.fits import FITS, HINGES
from helpers.hidden import Careless, Hidden, Started, Styles, make_styles
from helpers.structures import Chains, Signs, SignsOfPystruct
from helpers.trees import random_parents
from sklearn.base import clone

import sskit
from fuzz.mutations import junk, pick
from sskit.preprocessing import SuperpixelGraph
from sskit.solvers import BCFW, GDMM, LBFGS, SoftBCFW

QUICK = {"tol": 0.1, "max_iter": 20, "random_state": 0}
FACTORED = ["gdmm", "soft_bcfw", GDMM(method="afw", gap_every=2), SoftBCFW(steps="away")]
SOLVERS = ["auto", "bcfw", "mpbcfw", "fw", "ssg", "one_slack", BCFW(gap_every=3)]
SOLVERS += [solver for solver in fits.SOLVERS.values() if not isinstance(solver, (GDMM, SoftBCFW))]
LABELS = [np.array([0, 1, 2]), np.array(["a", "b", "c"]), np.array([-1.0, 1.0, 3.0])]
PRIOR = {"start_": [1.0, -1.0, 0.5], "classes_": [0, 1, "b"]}


@dataclass
class Subject:
    """An estimator or a function to call, and by name arguments with which its methods work."""

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


def quick(rng, solvers=SOLVERS, **choices):
    """Parameters that hold for all estimators, and one of the choices of each other."""
    chosen = {name: pick(rng, values) for name, values in choices.items()}
    solver = clone(pick(rng, solvers), safe=False)
    given = QUICK | {"n_jobs": pick(rng, [None, 1, 2]), "solver": solver}
    if solver in ("auto", "bcfw", "fw") and rng.random() < 0.2:
        given["warm_start"] = True
    return given | chosen


def weighted(rng, n):
    """The argument sample_weight: None, or weights of which one is zero."""
    if rng.random() < 0.5:
        return {"sample_weight": None}
    return {"sample_weight": np.concatenate([[0.0], rng.uniform(0.1, 2.0, size=n - 1)])}


def grouped(rng, n):
    """The arguments groups and sample_weight, which has a weight for each group."""
    if rng.random() < 0.5:
        return {"groups": None, "sample_weight": None}
    codes = np.arange(n) % int(rng.integers(1, 4))
    weight = pick(rng, [None, rng.uniform(1.0, 2.0, size=3)[codes]])
    return {"groups": pick(rng, LABELS)[codes], "sample_weight": weight}


# ---- fits of the table -------------------------------------------------------------------


def of_fits(*names):
    """Return a maker of subjects that are fits of helpers.fits, with any solver."""

    def make(rng):
        name = pick(rng, names)
        fit = FITS[name]
        (X, y), estimator = fit.data(), clone(fit.estimator)
        solvers = SOLVERS + FACTORED * fit.factored if name in HINGES else ["auto", LBFGS()]
        given = quick(rng, solvers, lam=[None, 0.1, estimator.lam])
        estimator.set_params(**given)
        if isinstance(estimator, sskit.SequenceTagger) and estimator.prior is None:
            estimator.set_params(beam_size=pick(rng, [None, None, 2]))
            estimator.set_params(prior=pick(rng, [None, None, PRIOR]))
        if isinstance(estimator, sskit.SequenceTagger | sskit.TreeTagger | sskit.SegmentationModel):
            names_of_labels = pick(rng, LABELS)
            y = [names_of_labels[labels] for labels in y]
        plain = isinstance(X, np.ndarray) or (isinstance(X[0], np.ndarray) and X[0].ndim == 2)
        if plain and rng.random() < 0.2:
            X = sp.csr_array(X) if isinstance(X, np.ndarray) else list(map(sp.csr_array, X))
        weight = (grouped if isinstance(estimator, sskit.RankingSVM) else weighted)(rng, len(y))
        return Subject(estimator, {"X": X, "y": y, "k": 2} | weight)

    return make


KINDS = {}
for name in FITS:
    KINDS.setdefault(type(FITS[name].estimator).__name__, []).append(name)
FIT_OF_KIND = {kind: of_fits(*names) for kind, names in KINDS.items()}
# of which parts may lack labels: costs are of all
tagger = of_fits(*(name for name in KINDS["SequenceTagger"] if "costs" not in name))
trees = of_fits("trees")


def component_classifier(rng):
    subject = of_fits("rows")(rng)
    given = {"n_components": pick(rng, [2, 3, {"a": 2}]), "n_init": int(rng.integers(1, 3))}
    subject.target.set_params(warm_start=False, **given)
    return subject


def in_kernel_space(rng):
    subject = of_fits("rows, kernel", "chains, kernel")(rng)
    kernel = pick(rng, ["rbf", "poly", "sigmoid", KernelFunction()])
    gamma = "scale" if callable(kernel) else pick(rng, ["auto", 0.5])
    subject.target.set_params(kernel=kernel, gamma=gamma, kernel_cache=pick(rng, [200.0, 1e-3]))
    return subject


def superpixels(rng):
    subject = of_fits("graphs")(rng)
    X, y = subject.arguments["X"], subject.arguments["y"]
    places = np.repeat(np.arange(5), 2).reshape(1, -1)
    X = [SuperpixelGraph(*x, places) for x in X]
    subject.arguments |= {"X": X, "y": [labels[places] for labels in y]}
    subject.target.set_params(node_weights=pick(rng, [None, "areas"]))
    if rng.random() < 0.5:
        subject.target.set_params(ignore_label=y[0][0])
    return subject


def parts_by_name(rng):
    subject, names = of_fits("parts")(rng), ["head", "hand", "foot"]
    X, y = subject.arguments["X"], subject.arguments["y"]
    X = [dict(zip(names, x, strict=True)) for x in X]
    y = [dict(zip(names, places.tolist(), strict=True)) for places in y]
    subject.arguments |= {"X": X, "y": y}
    subject.target.set_params(part_names=names, scores=pick(rng, ["raw", "log_odds"]))
    if not subject.target.warm_start:
        subject.target.set_params(latent_types=pick(rng, [True, False]))
    return subject


# ---- others ------------------------------------------------------------------------------


def sequences(rng):
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
    n = int(rng.integers(4, 9))
    # what their n_weights make of other parameters is not ours
    kinds = [without_parameters(cls) for cls in (Styles, Started, Careless)] + [Hidden()]
    given = quick(rng, n_init=[1, 2]) | {"warm_start": False}
    model = sskit.StructuredSVM(pick(rng, kinds), **given)
    X, y = make_styles(n, seed=int(rng.integers(1000)))
    return Subject(model, {"X": X, "y": y} | weighted(rng, n))


def ranking(rng):
    n = int(rng.integers(6, 10))
    given = quick(rng, rescaling=["margin", "margin", "slack", sskit.SlackRescaling("bisecting")])
    given["bounds"] = pick(rng, [None, None, (-1.0, 1.0), {"coef": (0.0, None)}, (None, 2.0)])
    X, y = rng.normal(size=(n, 3)), 0.5 * (np.arange(n) % 3)
    X = sp.csr_array(X) if rng.random() < 0.2 else X
    return Subject(sskit.RankingSVM(**given), {"X": X, "y": y} | grouped(rng, n))


def structure(rng):
    """A structure written in Python, of several kinds."""
    kind = pick(rng, ["chains", "signs", "pystruct"])
    n = int(rng.integers(4, 7))
    if kind == "chains":
        model = Chains(2, form=pick(rng, ["dense", "csr", "triplets"]))
        X = [rng.normal(size=(int(t), 2)) for t in rng.integers(1, 4, size=n)]
        y = [rng.integers(2, size=len(x)) for x in X]
    else:
        # a dict that is not empty is kept as it is, which makes a clone possible
        model = Signs({"none": None}) if kind == "signs" else SignsOfPystruct()
        X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) % 2, 1, -1)
    given = quick(rng, rescaling=["margin", "margin", "slack"], bounds=[None, None, (-1.0, 1.0)])
    return Subject(sskit.StructuredSVM(model, **given), {"X": X, "y": y} | weighted(rng, n))


def spoiled_structure(rng):
    """A structure one of whose methods answers with something odd after some calls."""
    subject = structure(rng)
    name = pick(rng, ["joint_feature", "loss", "argmax"])
    after, odd = int(rng.integers(12)), pick(rng, [np.nan, np.inf, -1.0, 1e200, 1e308, "odd"])
    odd = junk(rng) if isinstance(odd, str) else odd
    calls = []

    def answer(x, *rest):
        calls.append(None)
        return getattr(Signs(), name)(x, *rest) if len(calls) <= after else odd

    X = rng.normal(size=(5, 3))
    subject.target.set_params(model=Signs({name: answer}), bounds=None)
    subject.arguments = {"X": X, "y": np.array([1, -1, 1, 1, -1]), "sample_weight": None}
    return subject


def hidden_tagger(rng):
    """Sequences or trees some of whose labels are hidden, or sets of labels."""
    X, y = sequences(rng)
    names = np.unique(np.concatenate(y)).tolist()
    hidden = "?" if isinstance(names[0], str) else 9
    kind = pick(rng, [sskit.SequenceTagger, sskit.SequenceTagger, sskit.TreeTagger])
    given = quick(rng, SOLVERS + FACTORED[:2], class_weight=[None, None, "balanced"])
    given.pop("warm_start", None)
    if kind is sskit.TreeTagger:
        X = [(x, random_parents(rng, len(x))) for x in X]
        given["solver"] = "auto"
    sets = given["solver"] not in ("gdmm", "soft_bcfw")
    forms = [lambda k: hidden, lambda k: {k, names[-1]} if sets else hidden, lambda k: k]
    y = [[pick(rng, forms)(k) for k in labels.tolist()] for labels in y]
    for labels, name in zip(y, names, strict=False):
        labels[0] = name
    arguments = {"X": X, "y": y, "k": 2} | weighted(rng, len(X))
    if rng.random() < 0.5:
        arguments["token_weight"] = [rng.uniform(0.1, 2.0, size=len(labels)) for labels in y]
    return Subject(kind(ignore_label=hidden, **given), arguments)


def states_tagger(rng):
    """Sequences or trees whose labels have hidden states, and may be hidden themselves."""
    subject = hidden_tagger(rng) if rng.random() < 0.3 else of_fits("chains", "trees")(rng)
    target = subject.target
    others = {"rescaling": "margin", "warm_start": False, "prior": None}
    if target.solver in ("gdmm", "soft_bcfw") or isinstance(target.solver, (GDMM, SoftBCFW)):
        others["solver"] = "auto"
    label = subject.arguments["y"][0][0]
    numbers = [2, 3] if isinstance(label, (set, frozenset)) else [2, 3, {label: 2}]
    target.set_params(n_states_per_label=pick(rng, numbers), n_init=pick(rng, [1, 2]), **others)
    return subject


# ---- around estimators -------------------------------------------------------------------


def path(rng):
    kinds = ["StructSVMClassifier", "MultilabelPairwise", "HierarchicalMultilabel", "PartsModel"]
    subject = pick(rng, [*(FIT_OF_KIND[kind] for kind in kinds), tagger, structure])(rng)
    solver = clone(pick(rng, ["auto", "bcfw", "fw", BCFW(gap_every=3)]), safe=False)
    subject.target.set_params(solver=solver, warm_start=False, prior=None)
    given = {"eps": 0.5, "lam_min": 0.05, "max_breakpoints": 5}
    if rng.random() < 0.2 and subject.arguments["sample_weight"] is None:
        n = len(subject.arguments["y"])
        folds = [(np.arange(n), np.arange(n - 2, n)), (np.arange(n), np.arange(2))]
        given = {"eps": 0.5, "cv": folds, "refit": pick(rng, [True, True, False])}
    subject.target = sskit.RegularizationPath(subject.target, **given)
    subject.arguments["lam"] = pick(rng, [10.0, 100.0])
    return subject


def stopping(rng):
    kinds = [FIT_OF_KIND["StructSVMClassifier"], FIT_OF_KIND["MultilabelPairwise"]]
    subject = pick(rng, [*kinds, tagger, trees, structure])(rng)
    subject.target.set_params(warm_start=False)
    given = {"validation_fraction": 0.3, "n_iter_no_change": 2, "random_state": 0}
    if rng.random() < 0.4:
        subject.arguments |= {"X_val": subject.arguments["X"], "y_val": subject.arguments["y"]}
    subject.target = sskit.EarlyStopping(subject.target, **given)
    return subject


def calibrated(rng):
    subject = pick(rng, [tagger, trees])(rng)
    subject.target.set_params(warm_start=False)
    given = {"cv": 2, "method": pick(rng, ["matrix", "temperature"])}
    given["risk"] = pick(rng, [None, "tokens"])
    subject.target = sskit.CalibratedTagger(subject.target, **given)
    return subject


OTHERS = [
    component_classifier, in_kernel_space, ranking, structure, latent_structure, spoiled_structure,
    hidden_tagger, states_tagger, superpixels, parts_by_name, path, stopping, calibrated,
]  # fmt: skip
ESTIMATORS = FIT_OF_KIND | {make.__name__: make for make in OTHERS}
