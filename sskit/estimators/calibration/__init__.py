"""Probabilities of the labellings of a tagger."""

from sskit.estimators.calibration.tagger import CalibratedTagger

__all__ = ["CalibratedTagger"]
