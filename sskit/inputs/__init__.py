"""Validation: data of users are checked and packed, once."""
