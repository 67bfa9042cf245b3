"""One of K classes for a row."""
