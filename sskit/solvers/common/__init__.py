"""Base class of solvers, loop of a fit, solution, certificate, averaging, checks."""
