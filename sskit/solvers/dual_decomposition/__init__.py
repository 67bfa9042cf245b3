"""Dual decomposition: training by nodes and edges instead of whole structures (Yen et al. 2016)."""
