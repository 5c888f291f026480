"""Container logs: where the files are, how they are read, followed, and rotated."""
