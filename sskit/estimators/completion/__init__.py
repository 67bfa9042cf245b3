"""Training where not all labels are known: which may be right, and how they are completed."""
