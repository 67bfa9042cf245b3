"""Oracles of chains: Viterbi, k best, max-marginals, best labelling by loss, sums, beam search."""
