"""References with no code of the package, and toy problems in both forms."""
