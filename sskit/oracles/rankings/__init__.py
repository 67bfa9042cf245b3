"""Labellings and rankings of whole sets of rows, scored by measures that are no sums over rows."""
