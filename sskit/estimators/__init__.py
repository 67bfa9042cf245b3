"""Estimators with the interface of scikit-learn: parameters, fit, predict."""

# Design
#
# What. The public classes: parameters, fit, predict. Each family has one file or folder; `base` has
# what they share, `tagging` what taggers of sequences and trees share, `completion` unknown labels
# and hidden states, `online` partial_fit, `path` regularisation paths, `explanation` weights by
# name.
#
# Why so.
# - A parameter is declared once (`_parameters.parameter`): constructor, validation, types and
#   documentation follow. Nothing happens in a constructor but storing.
# - A fit is a walk of few steps: read and check (inputs), which also makes the summary, decide all
#   options, bind (models), solve (solvers), and set attributes by the layout of the weights. Data
#   in parts take the same steps, with one summary of all parts.
# - What cannot be combined is one table (`combinations`): errors, the page "what works" and
#   the grid of tests are made of it.
# - Predictions of ragged data are object arrays, filled item by item: lists break scikit-learn's
#   cross_val_predict. Ragged estimators are no ClassifierMixin, which would break its searches.
# - What depends on weights or parameters is made for each request, in time that does not grow with
#   the number of weights; so a user may set both on a fitted estimator.
#
# Tried or considered, and left. More mixins: where several override one method, a reader cannot see
# which is called; those of kernels, standardised columns and hidden states are left. A decoder for
# each family: one `Request` serves all. Refusing options without effect: thirty rules that helped
# no user; they are documented instead.

from sskit._public import export_from
from sskit.estimators.base.outcome import WarmStart
from sskit.estimators.base.task import BlockAttributes
from sskit.estimators.chain.tagger import SequenceTagger
from sskit.estimators.graph.base import GraphWeights
from sskit.estimators.graph.tagger import GraphTagger, SegmentationModel
from sskit.estimators.label_sets import HierarchicalMultilabel, MultilabelPairwise
from sskit.estimators.multiclass import StructSVMClassifier
from sskit.estimators.parts import PartsModel
from sskit.estimators.path.path import RegularizationPath
from sskit.estimators.rankings import RankingSVM
from sskit.estimators.segments import SegmentTagger
from sskit.estimators.structured import StructuredSVM
from sskit.estimators.tree import TreeTagger
from sskit.models.columns.scaling import Columns

__all__ = [
    "GraphTagger",
    "HierarchicalMultilabel",
    "MultilabelPairwise",
    "PartsModel",
    "RankingSVM",
    "RegularizationPath",
    "SegmentTagger",
    "SegmentationModel",
    "SequenceTagger",
    "StructSVMClassifier",
    "StructuredSVM",
    "TreeTagger",
]

# of the state of fitted estimators
export_from(__name__, BlockAttributes, Columns, GraphWeights, WarmStart)
