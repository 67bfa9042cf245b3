"""Sets of rows that are ranked as a whole."""
