"""Scores that are functions of a kernel space: what models of any structure share."""
