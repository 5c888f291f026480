"""A process of a hollow container, and what it reaches: files, pipes, addresses."""
