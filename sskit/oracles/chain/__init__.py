"""Oracles of chains: Viterbi, its k best, max-marginals, the loss-indexed programme, beams."""
