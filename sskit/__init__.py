"""Structured support vector machines in the manner of scikit-learn."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sskit._public import export_from
from sskit.estimators import (
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    RegularizationPath,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.models import SlackRescaling, StructuredModel

__version__ = "1.0.0rc1"

__all__ = [
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
    "StructuredModel",
    "StructuredSVM",
    "TreeTagger",
    "__version__",
    "get_include",
]

export_from(__name__)

# What is built upon the estimators is imported when it is first used.
LATER = {"CalibratedTagger": "sskit.calibration", "EarlyStopping": "sskit.stopping"}


if TYPE_CHECKING:
    from sskit.calibration import CalibratedTagger
    from sskit.stopping import EarlyStopping
else:  # to type checkers a module with this function has all names

    def __getattr__(name):
        if name not in LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(LATER[name]), name)


def __dir__():
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def get_include() -> list[str]:
    """Return the folders for compiling code against the package.

    Returns
    -------
    folders : list of str
        The folder of the package, for its ``.pxd`` files, and those of its headers: the
        ``include_dirs`` of an extension, and the ``include_path`` of ``cythonize``.

    Examples
    --------
    >>> import sskit
    >>> len(sskit.get_include()) > 1
    True
    """
    package = Path(__file__).resolve().parent
    return [str(package.parent), *sorted({str(path.parent) for path in package.rglob("*.hpp")})]
