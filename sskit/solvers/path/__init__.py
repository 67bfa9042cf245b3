"""Regularisation paths (Osokin et al. 2016, section 3.4)."""
