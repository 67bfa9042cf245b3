"""Transformers for ragged data: sequences of tokens, and images that become graphs."""

from sskit._public import export_from
from sskit.inputs.token_vectorizer import TokenVectorizer
from sskit.preprocessing._node_probabilities import NodeProbabilities
from sskit.preprocessing._regions import region_adjacency
from sskit.preprocessing._superpixel_graph import SuperpixelGraph
from sskit.preprocessing._superpixel_graphs import SuperpixelGraphs
from sskit.preprocessing._token_transformer import TokenTransformer

__all__ = [
    "NodeProbabilities",
    "SuperpixelGraph",
    "SuperpixelGraphs",
    "TokenTransformer",
    "TokenVectorizer",
    "region_adjacency",
]

export_from(__name__)
