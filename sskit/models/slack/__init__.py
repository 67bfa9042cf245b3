"""Slack rescaling of any model: the problem, and the searches for its maxima."""
