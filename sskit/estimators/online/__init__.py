"""Estimators that go on as data come."""
