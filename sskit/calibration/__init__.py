"""Taggers with calibrated probabilities."""

from sskit.calibration.tagger import CalibratedTagger

__all__ = ["CalibratedTagger"]
