"""One image at a time: from pixels to a graph with features. Called in worker processes."""

import numpy as np

from sskit.inputs.images import as_rgb
from sskit.preprocessing._regions import adjacent_pairs, chi2_distances, count_words, reaches
from sskit.preprocessing._superpixel_graph import SuperpixelGraph


def make_graph(memory, image, label, segmenter, options):
    """Return the graph of an image, or of what the cache has of it.

    Superpixels are cached apart from the graph: they do not depend on the words learned.

    Parameters
    ----------
    memory : object with the interface of joblib.Memory
        Where both are kept.
    image : ndarray
        One that passed the gate.
    label : str
        What errors call the image.
    segmenter : callable
        As of `cut_image`.
    options : dict
        The further arguments of `describe_image`.

    Returns
    -------
    graph : SuperpixelGraph
        The graph of the image.
    """
    segments = memory.cache(cut_image, ignore=["label"])(image, segmenter, label)
    return memory.cache(describe_image)(image, segments, **options)


def cut_image(image, segmenter, label):
    """Return the superpixels of an image, numbered without gaps.

    Parameters
    ----------
    image : ndarray
        One that passed the gate.
    segmenter : callable
        Takes RGB as floats, returns integers of shape (H, W).
    label : str
        What errors call the image.

    Returns
    -------
    segments : ndarray of int32 of shape (H, W)
        Numbers 0 to V - 1, each of which occurs.

    Raises
    ------
    ValueError
        If the segmenter returns something else.
    """
    segments = np.asarray(segmenter(as_rgb(image)))
    if segments.shape != image.shape[:2] or segments.dtype.kind not in "iu":
        raise ValueError(
            f"the segmenter must return integers of shape {image.shape[:2]} for {label}, got "
            f"{segments.dtype} of shape {segments.shape}"
        )
    _, numbers = np.unique(segments, return_inverse=True)
    return numbers.reshape(segments.shape).astype(np.int32)


def describe_image(image, segments, vocabulary, neighborhood, power, etas, dtype):
    """Return the graph of an image that is cut into superpixels.

    Parameters
    ----------
    image : ndarray
        One that passed the gate.
    segments : ndarray of int32 of shape (H, W)
        What `cut_image` returned.
    vocabulary : list of objects with ``n_words`` and ``word_image``
        The kinds of words that histograms count.
    neighborhood : int
        Histograms reach over so many edges.
    power : float
        Exponent of the entries of histograms as node features.
    etas : ndarray of shape (n_etas,)
        Factors of the distances before ``exp(-.)`` is taken.
    dtype : numpy dtype
        Type of the features.

    Returns
    -------
    graph : SuperpixelGraph
        The features are a constant, then kind by kind of word the histograms over growing
        neighbourhoods; the edge features a constant, then for each of these histograms one
        column per eta.
    """
    rgb = as_rgb(image)
    edges = adjacent_pairs(segments)
    n_nodes = int(segments.max()) + 1
    pools = reaches(edges, n_nodes, neighborhood)
    width = 1 + len(pools) * sum(words.n_words for words in vocabulary)
    features = np.ones((n_nodes, width), dtype=dtype)
    edge_features = np.ones((len(edges), 1 + len(pools) * len(vocabulary) * len(etas)), dtype=dtype)
    column = edge_column = 1
    for words in vocabulary:
        counts = count_words(segments, words.word_image(rgb), words.n_words)
        for pool in pools:
            histograms = pool @ counts
            histograms /= histograms.sum(axis=1, keepdims=True)
            features[:, column : column + words.n_words] = histograms**power
            column += words.n_words
            distances = chi2_distances(histograms, edges)
            edge_features[:, edge_column : edge_column + len(etas)] = np.exp(
                -distances[:, None] * etas
            )
            edge_column += len(etas)
    return SuperpixelGraph(features, edges, edge_features, segments)
