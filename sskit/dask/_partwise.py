"""Transformers of data in parts."""

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils import get_tags

from sskit._documentation import DocumentedMixin
from sskit.dask._collections import lazy_parts


# No set_output: parts are whatever the transformer makes of them.
class PartwiseTransformer(
    DocumentedMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Applies a transformer without state to each part of a collection, lazily.

    For pipelines that end with `Distributed`: parts are transformed where they lie, when they are
    loaded.

    Parameters
    ----------
    transformer : estimator with ``transform``
        One that needs no fit, such as ``TokenTransformer(FeatureHasher())``. What has to see all
        data first, such as a vocabulary, cannot be had part by part.

    Raises
    ------
    ValueError
        In fit, if the transformer needs a fit.

    Examples
    --------
    >>> from sklearn.feature_extraction import FeatureHasher
    >>> from sklearn.pipeline import make_pipeline
    >>> from sskit import SequenceTagger
    >>> from sskit.dask import Distributed, PartwiseTransformer
    >>> from sskit.preprocessing import TokenTransformer
    >>> hasher = PartwiseTransformer(TokenTransformer(FeatureHasher(64)))
    >>> X = [[[{"word": "a"}, {"word": "dog"}]], [[{"word": "the"}, {"word": "cat"}]]]
    >>> y = [[["D", "N"]], [["D", "N"]]]
    >>> model = make_pipeline(hasher, Distributed(SequenceTagger(random_state=0))).fit(X, y)
    >>> [labels.compute()[0].tolist() for labels in model.predict(X)]
    [['D', 'N'], ['D', 'N']]
    """

    def __init__(self, transformer):
        self.transformer = transformer

    def fit(self, X, y=None):
        """Check that there is nothing to be fitted.

        Parameters
        ----------
        X, y : object
            Not used.

        Returns
        -------
        self : object
            The transformer.
        """
        if isinstance(self.transformer, type) or not hasattr(self.transformer, "transform"):
            raise TypeError(
                f"transformer must be an object with transform, got {self.transformer!r}"
            )
        # older versions of scikit-learn say of a hasher that it needs a fit
        hashes = isinstance(self.transformer, FeatureHasher)
        if get_tags(self.transformer).requires_fit and not hashes:
            raise ValueError(
                f"{type(self.transformer).__name__} needs a fit to all data, which data in parts "
                "cannot have; use one without state, such as FeatureHasher"
            )
        return self

    def transform(self, X):
        """Transform a collection, part by part.

        Parameters
        ----------
        X : dask bag, array or dataframe, or list of parts
            Each part is what the transformer takes.

        Returns
        -------
        parts : list of Delayed
            What the transformer makes of each part.
        """
        return lazy_parts(self.transformer, "transform", X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        return tags
