"""Linear chains: a label for every token of a sequence."""
