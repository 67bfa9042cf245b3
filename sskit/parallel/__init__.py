"""A pool of threads for the parts of a task, its queue, and a spin lock."""
