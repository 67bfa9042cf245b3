"""Graphs: a label for every node, with scores of pairs of neighbours."""
