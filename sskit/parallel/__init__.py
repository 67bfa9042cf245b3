"""Threads that work together: who takes which part of a task, and where they meet."""
