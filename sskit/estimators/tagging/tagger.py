"""What taggers of sequences and trees share."""

from sklearn.utils.metaestimators import available_if

from sskit.estimators.base.callbacks import with_callbacks
from sskit.estimators.base.estimator import StructuredEstimator
from sskit.estimators.base.fitted_state import check_fitted
from sskit.estimators.base.tagging import TaggerMixin
from sskit.estimators.completion.states import HiddenStatesMixin
from sskit.estimators.online.steps import step, takes_steps
from sskit.estimators.reasons.explain import explain


class Tagger(HiddenStatesMixin, TaggerMixin, StructuredEstimator):
    """Base of taggers without cycles, whose labels may have hidden states.

    The estimator has besides ``_terms(sample)``, a list of all the `Terms` of a list of one sample.
    """

    @available_if(takes_steps)
    @with_callbacks
    def partial_fit(self, X, y, classes=None, sample_weight=None, token_weight=None):
        """Take an implicit online step: solve for new samples, near the last weights.

        The last weights are the prior, in a norm in which a weight is the stiffer the more rows
        have had its feature, as the square root of their number; see the user guide on going on.
        The step is solved to `tol` and certified as any fit is; what was seen before is not kept.
        The first call is a fit to its samples, with `prior` if there is one. Labels that are not
        known are completed by the last weights first, then round by round as in `fit`.

        Parameters
        ----------
        X, y : object
            New samples, as in `fit`; the features are those of all steps.
        classes : array-like of shape (n_classes,), default=None
            All labels there will be; for the first call. None means those in y. Later calls may
            repeat it.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.
        token_weight : sequence of n_samples sequences (T_i,) of float, default=None
            As in `fit`.

        Returns
        -------
        self : object
            The estimator after the step.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong, or y has a label that is none of the classes; then
            the estimator stays as it was.

        References
        ----------
        Kulis, Bartlett (2010). Implicit online learning. ICML.

        Duchi, Hazan, Singer (2011). Adaptive subgradient methods for online learning and
        stochastic optimization. Journal of Machine Learning Research 12.
        """
        return step(self, X, y, classes, sample_weight, token_weight=token_weight)

    def explain(
        self,
        X,
        i,
        t,
        *,
        label=None,
        rival=None,
        known=None,
        feature_names=None,
        edge_feature_names=None,
    ):
        """Return what speaks for the label of a token against its strongest rival.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            As in `fit`. Only sample i is looked at.
        i : int
            Which sample, from 0.
        t : int
            Which token, or node, of it, from 0.
        label : label, default=None
            What to explain; None means the label of the best labelling, as `predict` gives it
            (without a beam).
        rival : label, default=None
            What to compare it with; None means the label with the highest max-marginal of the
            others.
        known : sequence of n_samples items, default=None
            As in `predict`.
        feature_names : array-like of str of shape (n_features,), default=None
            Names of the features, as in `weights_frame`.
        edge_feature_names : array-like of str of shape (n_edge_features,), default=None
            Names of the features of edges, where there are such, likewise.

        Returns
        -------
        frame : DataFrame
            A row for each term, with the columns

            - group: "features" of the token; "bias", a weight of the first, last, root or leaf
              label; or a neighbour: "before" and "after" in a sequence, "parent" and "children"
              in a tree; or, with order=2, "around": both neighbours of a token;
            - kind: "feature" of the token; "start", "end", "root", "leaf"; "transition" to a
              neighbour; "edge", a feature of that edge; "triple", the token and two others in a
              row, which are before it, after it or around it; or "beyond": what the labels of the
              neighbour, and of all beyond it, score in the one labelling less what they score in
              the other, 0 if they are the same;
            - feature: its name, or the labels of the transition, or of the three tokens, in both
              labellings;
            - node: the token or node itself, or the neighbour;
            - value: of the feature, else 1;
            - weight, rival_weight: that of the label and of the rival; NaN for sums;
            - contribution: value times the difference of the weights, or the sum.

            Features that contribute most come first. The contributions add up to the margin, the
            difference of the max-marginals of the two labels (see `decision_function`), but for
            rounding. ``frame.attrs`` has "label" and "rival", their max-marginals "score" and
            "rival_score", the "margin", and "labelling" and "rival_labelling", the best labellings
            with the one and with the other; of several equally good ones, any.

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the tagger is not fitted.
        TypeError, ValueError
            If X or another argument is wrong, there is no such token, a label is unknown or the
            same as its rival, or no labelling is allowed that has one of them at the token; or
            the tagger has a kernel.

        Examples
        --------
        >>> from sskit import SequenceTagger
        >>> X, y = [[[1.0, 0.0], [0.0, 1.0]]] * 3, [["DET", "NOUN"]] * 3
        >>> tagger = SequenceTagger(lam=0.1, tol=1e-6, random_state=0).fit(X, y)
        >>> frame = tagger.explain(X, 0, 1, feature_names=["the", "cat"])
        >>> frame.attrs["label"], frame.attrs["rival"], round(frame.attrs["margin"], 3)
        ('NOUN', 'DET', 1.0)
        >>> frame.groupby("group")["contribution"].sum().round(3).to_dict()
        {'before': 0.2, 'bias': 0.4, 'features': 0.4}
        """
        check_fitted(self)
        names = feature_names, edge_feature_names
        return explain(self, X, i, t, label, rival, known, *names)
