# What compiled structures of users cimport: these names are public, other .pxd files may change.
#
#     Structure       the contract, method by method: a structure derives from it
#     Block           what a method learns of an input: its number, its nodes and its potentials
#     NodeLoss        the losses of states at nodes
#     FeatureMap      from weights to potentials, and back
#     FeatureRows     a dense or sparse matrix of features, for a map
#     StateStructure  one state for each block: classification
#
# Two functions are imported as those of Python, from the same package:
#
#     end_marks       marks of the first and the last row of each block: weights of start and end
#     no_features     rows without features

from sskit.models.feature_map cimport FeatureMap
from sskit.models.features cimport FeatureRows
from sskit.models.structure cimport Block, NodeLoss, StateStructure, Structure
