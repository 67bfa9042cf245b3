"""Transformers for ragged data: sequences of tokens, and images that become graphs."""

from sskit.preprocessing._token_transformer import TokenTransformer

__all__ = ["TokenTransformer"]
