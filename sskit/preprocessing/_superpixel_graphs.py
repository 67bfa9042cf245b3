"""SuperpixelGraphs: images as graphs of superpixels with histograms as features."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sskit._numbers import n_workers
from sskit._parameters import Number, parameter, parameters
from sskit._public import PublicMixin
from sskit._types import BaseEstimator, RandomState, Samples, Self, TransformerMixin
from sskit.inputs.masks import check_images
from sskit.preprocessing._regions import ETAS, make_graph, slic_segments
from sskit.preprocessing._words import (
    SIFT_STEP,
    dense_sift,
    lab_colors,
    learn_words,
    position_image,
    word_image,
)


# Largest parameter: filters and tables of larger sizes would not fit memory. No set_output: a graph
# is not a data frame.
class FittedWords:
    """Types of the attributes that a fitted `SuperpixelGraphs` has."""

    color_words_: np.ndarray
    texture_words_: np.ndarray


@parameters
class SuperpixelGraphs(
    FittedWords, PublicMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Turn images into graphs of superpixels with the features of HorseSeg.

    An image is divided into superpixels, which become nodes; edges connect those that touch. Node
    features are histograms of visual words; the words of colours and textures are learned from the
    images given to ``fit``. Edge features measure how similar the histograms of two neighbours
    are: ``exp(-eta * d)`` for eta 2**-5, 2**-4, ..., 2**5 and each kind of histogram, where d is
    the chi-squared distance of the two, from 0 to 1. The defaults give the 1,969 node and 100 edge
    features of [1]_.

    Parameters
    ----------
    n_segments : int, default=150
        Approximate number of superpixels of an image by SLIC (compactness 10, sigma 1).
    segmenter : callable or None, default=None
        Replaces SLIC: takes a float32 RGB image (H, W, 3) from 0 to 1 and returns an array (H, W)
        of integers, one per superpixel, in any numbering. `n_segments` is then not used.
    n_color_words : int, default=128
        Number of clusters of colours, the bins of the colour histogram; 0 leaves it out.
    n_texture_words : int, default=512
        Number of clusters of dense SIFT descriptors, likewise: of patches of 16 x 16 pixels, every
        four pixels.
    position_grid : int, default=4
        The position histogram counts the cells of a grid of so many rows and columns over the
        image; 0 leaves it out.
    neighborhood : int, default=2
        Histograms are taken over the superpixel, and over the superpixels up to 1, 2, ...,
        `neighborhood` edges away from it, together.
    power : float in (0, 1], default=0.5
        Node features are histograms that sum to one, raised to this power: 0.5 makes inner
        products those of Hellinger's kernel, 1 gives the plain histograms of [1]_.
    n_jobs : int or None, default=None
        Number of images at a time, as everywhere in scikit-learn.
    random_state : int, RandomState or None, default=None
        Seed of the sampled pixels and of k-means. With None or a RandomState the words differ from
        fit to fit.

    Attributes
    ----------
    color_words_ : ndarray of float32 of shape (n_color_words, 3)
        Centres of the clusters of colours, in CIELAB; fewer where there are fewer colours.
    texture_words_ : ndarray of float32 of shape (n_texture_words, 128)
        Centres of the clusters of textures; fewer where there are fewer textures.

    See Also
    --------
    SuperpixelGraph : What an image becomes.

    Notes
    -----
    Histograms and distances are never negative, so a Potts model whose edge weights are bounded by
    zero can be solved by cuts. Colours are clustered in CIELAB, where HorseSeg used RGB.

    References
    ----------
    .. [1] A. Osokin, J.-B. Alayrac, I. Lukasewitz, P. K. Dokania, S. Lacoste-Julien, "Minding the
       gaps for block Frank-Wolfe optimization of structured SVMs", ICML 2016, appendix I.3.

    .. [2] V. Lempitsky, A. Vedaldi, A. Zisserman, "A pylon model for semantic segmentation",
       NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.preprocessing import SuperpixelGraphs
    >>> images = np.random.RandomState(0).uniform(size=(3, 24, 32, 3))
    >>> superpixels = SuperpixelGraphs(
    ...     n_segments=12, n_color_words=8, n_texture_words=4, position_grid=2, random_state=0
    ... )
    >>> graphs = superpixels.fit_transform(images)
    >>> graphs[0].features.shape[1] == 1 + 3 * (8 + 4 + 4)
    True
    >>> superpixels.get_feature_names_out()[[0, 1, 9, 17]]
    array(['constant', 'color_0_near0', 'color_0_near1', 'color_0_near2'],
          dtype=object)
    """

    n_segments: int = parameter(
        Number(Integral, 1, 2**24, closed="both"), default=150, kw_only=False
    )
    segmenter: Callable[..., Any] | None = parameter(callable, None, default=None)
    n_color_words: int = parameter(Number(Integral, 0, 2**16, closed="both"), default=128)
    n_texture_words: int = parameter(Number(Integral, 0, 2**16, closed="both"), default=512)
    position_grid: int = parameter(Number(Integral, 0, 2**10, closed="both"), default=4)
    neighborhood: int = parameter(Number(Integral, 0, 2**10, closed="both"), default=2)
    power: float = parameter(Number(Real, 0, 1, closed="right"), default=0.5)
    n_jobs: int | None = parameter(
        Number(Integral, None, None, closed="neither"), None, default=None
    )
    random_state: RandomState = parameter(default=None)

    def fit(self, X: Samples, y: object = None) -> Self:
        """Learn the words of colours and textures.

        Parameters
        ----------
        X : sequence of n images, or ndarray of shape (n, H, W) or (n, H, W, 3)
            Grey or RGB; unsigned integers, or floats from 0 to 1. Sizes may differ.
        y : None
            Not used; masks need not be known.

        Returns
        -------
        self : SuperpixelGraphs

        Raises
        ------
        TypeError, ValueError
            If a parameter is out of its range, or `X` is not a list of images; the error names the
            image.
        ImportError
            If scikit-image, the extra ``images``, is not installed; a `segmenter` without colours
            does not need it.
        """
        self._validate_params()
        images = check_images(X)
        rng = check_random_state(self.random_state)
        tools = {"rng": rng, "n_jobs": self.n_jobs}
        self.color_words_ = learn_words(images, lab_colors, self.n_color_words, **tools)
        self.texture_words_ = learn_words(images, dense_sift, self.n_texture_words, **tools)
        return self

    def transform(self, X: Samples) -> np.ndarray:
        """Turn images into graphs.

        Parameters
        ----------
        X : sequence of n images, or ndarray of shape (n, H, W) or (n, H, W, 3)
            As for ``fit``.

        Returns
        -------
        graphs : ndarray of object of shape (n,)
            One SuperpixelGraph per image.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            If called before ``fit``; else as ``fit``.
        """
        check_is_fitted(self)
        self._validate_params()
        images = check_images(X)
        segmenter = self.segmenter or partial(slic_segments, n_segments=self.n_segments)
        options = segmenter, self._vocabulary(), self.neighborhood, self.power
        parts = Parallel(n_jobs=n_workers(self.n_jobs, len(images)))(
            delayed(make_graph)(image, f"X[{i}]", *options) for i, image in enumerate(images)
        )
        graphs = np.empty(len(parts), dtype=object)
        graphs[:] = parts
        return graphs

    def get_feature_names_out(self, input_features: None = None) -> np.ndarray:
        """Return the names of the node features.

        Parameters
        ----------
        input_features : None
            Not used; images have no column names.

        Returns
        -------
        names : ndarray of object of shape (p,)
            ``constant``, then ``color_7_near1`` for colour word 7 in the histogram over the
            superpixel and its neighbours, and so on.
        """
        check_is_fitted(self)
        names = [
            f"{name}_{word}_near{order}"
            for name, n_words, _ in self._vocabulary()
            for order in range(self.neighborhood + 1)
            for word in range(n_words)
        ]
        return np.array(["constant", *names], dtype=object)

    def get_edge_feature_names_out(self) -> np.ndarray:
        """Return the names of the edge features.

        Returns
        -------
        names : ndarray of object of shape (q,)
            ``constant``, then ``color_near1_eta0.5`` for ``exp(-0.5 * d)`` with d the distance of
            the colour histograms over both superpixels and their neighbours, and so on.
        """
        check_is_fitted(self)
        names = [
            f"{name}_near{order}_eta{eta:g}"
            for name, *_ in self._vocabulary()
            for order in range(self.neighborhood + 1)
            for eta in ETAS
        ]
        return np.array(["constant", *names], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def _vocabulary(self):
        """Return name, number and function of the kinds of words that there are."""
        color = partial(word_image, describe=lab_colors, step=1, centers=self.color_words_)
        texture = partial(
            word_image, describe=dense_sift, step=SIFT_STEP, centers=self.texture_words_
        )
        position = partial(position_image, n_cells=self.position_grid)
        kinds = [
            ("color", len(self.color_words_), color),
            ("texture", len(self.texture_words_), texture),
            ("position", self.position_grid**2, position),
        ]
        return [(name, n_words, words_of) for name, n_words, words_of in kinds if n_words]
