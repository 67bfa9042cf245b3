"""Oracles of parts on springs: distance transforms, max-sum over trees of parts."""
