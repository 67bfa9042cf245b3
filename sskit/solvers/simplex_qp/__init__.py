"""Small quadratic programs over convex mixes, and the steps that solve them."""
