"""Core: problems, planes and the dual point, regularizers, samplers.

Compiled contracts between models and solvers; nothing here depends on a structure. Import from the
modules themselves: their ``.pxd`` files are the contracts.
"""

# Design
#
# What. A solver and a model meet in one class, `Problem`: a block is a training pair, and phi(x_i,
# y) = B_i m_i(y), the statistics m of a labelling times the features. A solver needs theta = B_i^T
# w, the best labelling for theta, and what a step along statistics does to w.
#
# Why so.
# - Statistics are small. A dual point of n vectors of weights does not fit in memory (CoNLL-2000:
#   8,936 sentences times 1.6 million weights are 117 GB); the statistics of all blocks are some 75
#   MB. A plane is stored by its labelling, and scores of stored planes need no features.
# - Methods run without the interpreter's lock and trust their arguments; what comes from Python is
#   checked once (`checks`). Scratch memory belongs to an object, threads have forks.
# - lam stands in the regulariser only, c_i in `block_weight` only: no formula has them twice.
# - What only some problems can do is an object (`capabilities`, `decomposition`), not a flag: a
#   solver reads it before its loop, never in it.
#
# Tried or considered, and left. A class of problems for each family, and feature maps composed by
# templates: both multiplied, and are now the one `StructuredProblem` of a map, a structure and a
# loss. Sums in the tree of the gap sampler updated by differences: they drift, so an inner node is
# the sum of its children. Gap sampling alone: known gaps go stale, so a tenth of the draws is
# uniform.

from sskit._public import export_from
from sskit.core.fingerprint import Fingerprint

export_from(__name__, Fingerprint)
