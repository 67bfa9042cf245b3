"""Oracles of graphs: minimum cuts, expansion moves, enumeration."""
