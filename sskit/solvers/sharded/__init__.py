"""Sharded dual ascent: many workers on one dual point, each with weights of its own for a round."""
