"""Pictorial structures: places of parts on springs."""
