"""Chains whose transitions have features: model, problem, request and decoders."""
