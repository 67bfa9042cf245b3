"""The one place that knows scikit-learn's callback API, which older versions do not have."""

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    FRAMES_AROUND_FIT = 1
except ImportError:  # scikit-learn < 1.9
    FRAMES_AROUND_FIT = 0

    class CallbackSupportMixin:
        """Stand-in for scikit-learn's mixin: no ``set_callbacks``."""

    def with_callbacks(method):
        """Return the method as it is."""
        return method


class PassReporter:
    """Report the passes of a fit to the callbacks of an estimator and to who watches it, if any.

    Parameters
    ----------
    estimator : estimator
        Which is being fitted.
    max_iter : int
        Largest number of passes.
    X, y : object
        The training data.
    metadata : dict
        Further arguments of fit, such as sample_weight.
    reconstruct : callable
        Maps weights to the fitted attributes, for callbacks that want a fitted estimator.
    """

    def __init__(self, estimator, max_iter, X, y, metadata, reconstruct):
        self.estimator = estimator
        self.reconstruct = reconstruct
        self.data = {"X": X, "y": y, "metadata": metadata}
        # of a meta-estimator, see HeldOutWatch
        self.watch = vars(estimator).get("_watch")
        self.context = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.data)
        # Without callbacks a fit of many passes would only collect empty contexts.
        self.active = self.context is not None and bool(getattr(estimator, "_skl_callbacks", []))

    def on_pass(self, n_iter, weights):
        """Report the end of a pass; return whether somebody asks to stop.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        weights : callable
            Returns the weights.

        Returns
        -------
        stop : bool
            Whether to stop.
        """
        stop = self.watch is not None and self.watch.on_pass(
            n_iter, lambda: self.reconstruct(weights())
        )
        if not self.active:
            return stop
        context = self.context.subcontext(task_name="pass")
        context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        asked = context.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=lambda: self.reconstruct(weights()),
            **self.data,
        )
        return stop or asked

    def end(self, attributes):
        """Report the end of the fit with its fitted attributes."""
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.data
            )
