"""Distributed training (CoCoA+, Ma et al. 2015) on data in parts."""
