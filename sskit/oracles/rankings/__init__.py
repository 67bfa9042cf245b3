"""Rankings of sets of rows, scored by the pairs that are in the wrong order."""
