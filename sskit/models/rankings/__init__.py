"""Rankings of sets of rows."""
