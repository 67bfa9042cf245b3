"""What taggers of sequences and trees share."""
