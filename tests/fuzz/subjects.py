"""Valid calls on tiny data: what the fuzzer starts from."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from helpers import fits
from helpers.fits import FITS, HINGES
from helpers.hidden import Careless, Hidden, Started, Styles, make_styles
from helpers.saved import MODELS, PATHS
from helpers.structures import Signs
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import sskit
from fuzz.mutations import junk, pick
from sskit.preprocessing import SuperpixelGraph
from sskit.solvers import BCFW, GDMM, LBFGS, SoftBCFW

QUICK = {"tol": 0.1, "max_iter": 20, "random_state": 0}
FACTORED = ["gdmm", "soft_bcfw", GDMM(method="afw", gap_every=2), SoftBCFW(steps="away")]
SOLVERS = ["auto", "bcfw", "mpbcfw", "fw", "ssg", "one_slack", BCFW(gap_every=3)]
SAFE = ["auto", "bcfw", "fw", BCFW(gap_every=3)]
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


def spoiled_structure(rng):
    """A structure one of whose methods answers with something odd after some calls."""
    name = pick(rng, ["joint_feature", "loss", "argmax"])
    after, odd = int(rng.integers(12)), pick(rng, [np.nan, np.inf, -1.0, 1e200, 1e308, "odd"])
    odd = junk(rng) if isinstance(odd, str) else odd
    calls = []

    def answer(x, *rest):
        calls.append(None)
        return getattr(Signs(), name)(x, *rest) if len(calls) <= after else odd

    model, y = sskit.StructuredSVM(Signs({name: answer}), **quick(rng)), np.array([1, -1, 1, 1, -1])
    return Subject(model, {"X": rng.normal(size=(5, 3)), "y": y, "sample_weight": None})


# ---- saved models ------------------------------------------------------------------------


def of_saved(*names):
    """Return a maker of subjects with the options of saved models, by any solver they may take."""

    def make(rng):
        estimator, data = (MODELS | PATHS)[pick(rng, names)]
        (X, y), estimator = data(), clone(estimator)
        params = estimator.get_params()
        inner = {name.rpartition("__")[0] for name in params if name.endswith("solver")}
        for prefix in (f"{name}__" if name else "" for name in sorted(inner)):
            given = quick(rng, SAFE) | {"warm_start": False}
            known = {key: value for key, value in given.items() if prefix + key in params}
            estimator.set_params(**{prefix + key: value for key, value in known.items()})
        arguments = {"X": X, "y": y, "k": 2}
        if isinstance(estimator, sskit.RankingSVM):
            arguments |= grouped(rng, len(y))
        elif not isinstance(estimator, Pipeline):
            arguments |= weighted(rng, y.shape[0] if sp.issparse(y) else len(y))
        if hasattr(estimator, "lam_min"):
            arguments["lam"] = pick(rng, [10.0, 100.0])
        return Subject(estimator, arguments)

    return make


SAVED = {}
for name in [*MODELS, *PATHS]:
    if "likelihood" in name:  # by solvers of its own, as a fit of the table
        continue
    SAVED.setdefault(name.partition(",")[0], []).append(name)
OTHERS = [in_kernel_space, latent_structure, spoiled_structure, superpixels]
ESTIMATORS = FIT_OF_KIND | {make.__name__: make for make in OTHERS}
ESTIMATORS |= {f"saved {kind}": of_saved(*names) for kind, names in SAVED.items()}
