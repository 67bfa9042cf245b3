"""What all solvers share: base class, driver loop, solution, certificate, averaging, checks."""
