"""Block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013) and the multi-plane algorithm."""
