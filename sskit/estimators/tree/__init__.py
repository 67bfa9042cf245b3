"""Tagging of trees."""
