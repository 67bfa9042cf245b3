"""Oracles of graphs: cuts, moves, message passing, roof duality, elimination."""
