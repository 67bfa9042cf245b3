"""Sets of rows that are labelled or ranked as a whole."""
