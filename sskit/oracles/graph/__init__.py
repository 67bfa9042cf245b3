"""Oracles of graphs: cuts, expansion, message passing, roof duality, elimination."""
