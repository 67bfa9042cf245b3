"""Segmentation and tagging of graphs."""
