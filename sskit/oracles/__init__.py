"""Oracles: the best labelling under given potentials.

An oracle maximises the score of a labelling, the sum of the potentials of its nodes and of its
pairs of neighbouring nodes, plus, on request, the loss against a true labelling; some functions
sum the exponentials of the scores of all labellings instead. The functions take arrays, without
data or weights; the models call the same compiled code. All of them but `beam_search`,
`expansion`, `trws` and, at undecided nodes, `qpbo` are exact. A potential of ``-inf`` forbids its
state or pair, except in cuts (`graphcut`, `expansion`, `qpbo`), which need finite ones.

- :func:`viterbi`: the best labelling of a chain, of pairs and, optionally, of three in a row.
- :func:`viterbi_top_k`: the k best labellings of a chain.
- :func:`viterbi_by_loss`: for each loss the best labelling of a chain that has it.
- :func:`beam_search`: a good labelling of a chain with many states.
- :func:`chain_max_marginals`: for each node and state of a chain the best score with that state.
- :func:`chain_marginals`: the probability of each state at each node of a chain.
- :func:`graphcut`: the best labelling of a graph with two states, by a minimum cut.
- :func:`graph_max_marginals`: for each node and state the best score with that state.
- :func:`expansion`: a good labelling of a graph with any number of states, by many cuts.
- :func:`trws`: a good labelling of any graph and an upper bound, by message passing.
- :func:`qpbo`: what one cut can decide in any graph with two states, and an upper bound.
- :func:`elimination`: the best labelling of a graph of small treewidth.
- :func:`segment_max_sum`: the best segmentation of a sequence.
- :func:`segment_top_k`: the k best segmentations of a sequence.
- :func:`segment_max_marginals`: for each token and state the best score with that state.
- :func:`segment_marginals`: the probability of each state at each token, and of each segment.
- :func:`tree_max_sum`: the best labelling of a tree.
- :func:`tree_max_marginals`: for each of its nodes and states the best score with that state.
- :func:`tree_marginals`: the probability of each of its states at each node of a tree.
- :func:`lp_relaxation`: the best fractional set of labels with scores of pairs.
- :func:`tree_top_k`: the k best labellings of a tree.
- :func:`closure`: the best set of labels of a hierarchy.
- :func:`distance_transform`: the best place for a part on a spring, for every anchor.
- :func:`parts_max_sum`: the best places of parts on a tree of springs.
- :func:`parts_max_marginals`: for each part and place the best score with that part there.
- :func:`worst_ranking`: the ranking of a set of rows that violates the ROC area most.
"""

# Design
#
# What. From potentials (and losses) to the best labelling, to sums, samples, the k best, and bounds
# where the best is not found. No data, no weights. A function for users checks its arguments;
# models call the same compiled code without checks.
#
# Why so.
# - A dynamic programme is written once for each structure: a template over an algebra, of which the
#   maximum and the log-sum are instances (chain, segments, tree). The k best come from one set of
#   lazily grown lists. tests/helpers/programmes.py has the same in NumPy.
# - Rows are padded to whole vectors, and no back pointers are stored: the way back finds again
#   where a maximum came from, for the states of one path.
# - One rule chooses the oracle of a graph: without cycles max-sum; cuts if they represent all
#   edges; elimination if the tables are small; else roof duality or message passing, which bound
#   what they miss.
# - Only graph/cut.pyx imports PyMaxflow, on first use: most users never cut a graph.
#
# Tried or considered, and left. Sums in logarithms alone: probabilities scaled at each node are
# faster on chains, and logarithms are the fallback where numbers become too small. k best for
# chains and trees apart, and computed to the end: lazy lists are 200 times faster on trees of 100
# labels. Templates over float and double: potentials are double, and only rows of features have
# types.

from sskit.oracles.chain.viterbi import (
    beam_search,
    chain_marginals,
    chain_max_marginals,
    viterbi,
    viterbi_by_loss,
    viterbi_top_k,
)
from sskit.oracles.graph.cut import expansion, graph_max_marginals, graphcut, qpbo
from sskit.oracles.graph.elimination import elimination
from sskit.oracles.graph.trws import trws
from sskit.oracles.label_sets.functions import closure, lp_relaxation
from sskit.oracles.parts.max_sum import distance_transform, parts_max_marginals, parts_max_sum
from sskit.oracles.rankings.swapped_pairs import worst_ranking
from sskit.oracles.segments.semi_markov import (
    segment_marginals,
    segment_max_marginals,
    segment_max_sum,
    segment_top_k,
)
from sskit.oracles.tree.max_sum import tree_marginals, tree_max_marginals, tree_max_sum, tree_top_k

__all__ = [
    "beam_search",
    "closure",
    "distance_transform",
    "elimination",
    "expansion",
    "graphcut",
    "graph_max_marginals",
    "lp_relaxation",
    "chain_marginals",
    "chain_max_marginals",
    "parts_max_marginals",
    "parts_max_sum",
    "qpbo",
    "segment_marginals",
    "segment_max_marginals",
    "segment_max_sum",
    "segment_top_k",
    "tree_marginals",
    "tree_max_marginals",
    "tree_max_sum",
    "tree_top_k",
    "trws",
    "viterbi",
    "viterbi_by_loss",
    "viterbi_top_k",
    "worst_ranking",
]
