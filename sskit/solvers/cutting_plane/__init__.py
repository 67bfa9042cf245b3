"""Cutting planes (Joachims, Finley, Yu 2009; Yu, Joachims 2008)."""
