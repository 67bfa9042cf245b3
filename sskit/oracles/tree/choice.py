"""The oracles of graphs by their names: here, where trees are known too."""

from sskit.oracles.graph.cut import Cut
from sskit.oracles.graph.elimination import Elimination
from sskit.oracles.graph.expansion import Expansion
from sskit.oracles.graph.roof_dual import QPBO
from sskit.oracles.graph.trws import TRWS
from sskit.oracles.tree.max_sum import TreeMaxSum

# In the order of `sskit.oracles.graph.potentials.NAMES`, for whom the rule chooses by number.
ORACLES = {
    "tree": TreeMaxSum,
    "graphcut": Cut,
    "elimination": Elimination,
    "expansion": Expansion,
    "qpbo": QPBO,
    "trws": TRWS,
}
