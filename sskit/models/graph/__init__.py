"""A label for every node of a graph."""
