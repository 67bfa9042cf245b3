"""Labels as users give them: those known in part, constraints on predictions, checked targets."""
