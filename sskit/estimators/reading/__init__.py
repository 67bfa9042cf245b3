"""Reading of training data and of requests: columns, labels, and their summary."""
