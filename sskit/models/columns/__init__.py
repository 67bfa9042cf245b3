"""Columns of features: how they are centred, scaled and renumbered inside a fit."""
