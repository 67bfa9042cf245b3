"""Oracles for segmentations of sequences: every segment has a label and a length."""
