"""What cannot be had where labellings have hidden parts."""


def refuse_hidden(estimator, what, part=False):
    """Raise ValueError if an estimator asks for what hidden parts of labellings do not allow.

    Parameters
    ----------
    estimator : StructuredEstimator
        Has the parameters.
    what : str
        What has the hidden parts, for the message.
    part : bool, default=False
        Whether the data are a part of the data only.

    Raises
    ------
    ValueError
        Saying what to do instead.
    """
    reason = hidden_refusal(estimator, part)
    if reason is not None:
        raise ValueError(f"{what} has hidden variables, but {reason}")


def hidden_refusal(estimator, part=False):
    """Return why an estimator cannot be trained with hidden variables, or None if it can."""
    if part:
        return (
            "data in parts, and steps of partial_fit, need labellings that are known as a whole; "
            "use fit on all data"
        )
    if estimator._rescaling() is not None:
        return (
            "rescaling='slack' needs labellings that are known as a whole; use rescaling='margin'"
        )
    if getattr(estimator, "kernel", "linear") != "linear":
        return "a kernel needs labellings that are known as a whole; use kernel='linear'"
    if estimator.warm_start:
        return (
            "warm_start=True cannot be used, as the problem changes while they are completed; set "
            "warm_start=False"
        )
    return None


__all__ = ["hidden_refusal", "refuse_hidden"]
