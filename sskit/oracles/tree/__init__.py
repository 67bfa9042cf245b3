"""Oracles of trees and forests: max-sum, its k best and max-marginals."""
