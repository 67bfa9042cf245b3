"""The types that a saved model may hold."""

TRUSTED_TYPES = {
    "sskit": (
        "CalibratedTagger",
        "EarlyStopping",
        "GraphTagger",
        "HierarchicalMultilabel",
        "MultilabelPairwise",
        "PartsModel",
        "RankingSVM",
        "RegularizationPath",
        "SegmentTagger",
        "SegmentationModel",
        "SequenceTagger",
        "SlackRescaling",
        "StructSVMClassifier",
        "TreeTagger",
    ),
    "sskit.estimators": ("AnyGraphWeights", "BlockAttributes", "GraphWeights"),
    "sskit.metrics": (
        "RegionScorer",
        "class_accuracy_score",
        "mean_iou_score",
        "pdj_score",
        "sequence_accuracy_score",
        "span_f1_score",
        "token_accuracy_score",
    ),
    "sskit.models": (
        "Kernel",
        "PrecomputedKernel",
        "PystructAdapter",
        "SegmentLayout",
        "WeightLayout",
    ),
    "sskit.preprocessing": ("NodeProbabilities", "TokenTransformer"),
    "sskit.solvers": (
        "BCFW",
        "CuttingPlane",
        "FrankWolfe",
        "GDMM",
        "MultiPlane",
        "SoftBCFW",
        "Subgradient",
    ),
    # results of a path that was chosen by cross-validation
    "numpy.ma": ("MaskedArray",),
    # support vectors and training data of models with a kernel
    "scipy.sparse._csr": ("csr_array", "csr_matrix"),
    # the scorers of sskit.metrics
    "sklearn.metrics._scorer": ("_Scorer",),
}


# What a fit goes on from, whose numbers compiled code takes as they are.
WARM_START = {
    "sskit.core": ("Fingerprint",),
    "sskit.estimators": ("WarmStart",),
    "sskit.solvers": ("DualPoint",),
}


def trusted_types(*, warm_start=False):
    """Return the names of the types that a saved model may hold, for ``skops.io.load``.

    They are those of which the estimators, solvers, kernels and rescalings of the package are
    made, besides numbers, strings, arrays and what else skops trusts by itself. To make one of
    them from a file runs nothing but code of the package, and methods of a model whose arrays
    do not fit each other raise an error.

    Not among them are functions and objects of your own, such as kernels, structures, scorers
    and splitters: add their names. Nor is `sskit.preprocessing.SuperpixelGraphs`: its parameter
    `memory` may name a folder with pickles, which it would read.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether to trust the dual points of models that were fitted with ``warm_start=True``. The
        next fit takes their numbers as they are: only for files that nobody has changed.

    Returns
    -------
    names : list of str
        A new list.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skops import io
    >>> from sskit import StructSVMClassifier
    >>> from sskit.utils import trusted_types
    >>> X, y = load_iris(return_X_y=True)
    >>> saved = io.dumps(StructSVMClassifier(random_state=0).fit(X, y))
    >>> bool(io.loads(saved, trusted=trusted_types()).score(X, y) > 0.9)
    True
    """
    groups = [TRUSTED_TYPES, WARM_START] if warm_start else [TRUSTED_TYPES]
    return [f"{module}.{name}" for group in groups for module in group for name in group[module]]
