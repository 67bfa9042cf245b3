"""The choice among the oracles of graphs and trees, by name."""

from sskit.oracles.graph.cut import QPBO, Cut, Expansion
from sskit.oracles.graph.elimination import Elimination
from sskit.oracles.graph.trws import TRWS
from sskit.oracles.tree.max_sum import TreeOracle

# In the order of `sskit.oracles.graph.potentials.NAMES`, which the rule chooses by number.
ORACLES = {
    "tree": TreeOracle,
    "graphcut": Cut,
    "elimination": Elimination,
    "expansion": Expansion,
    "qpbo": QPBO,
    "trws": TRWS,
}
