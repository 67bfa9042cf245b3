"""Runs on data in parts, which lie in several places or are loaded one after the other."""
