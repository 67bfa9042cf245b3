"""Block-coordinate Frank-Wolfe."""
