"""Training with labels that are not known: which are possible, and how they are completed."""
