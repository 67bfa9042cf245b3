"""References that share no code with the package, and toy problems in both forms."""
