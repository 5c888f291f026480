"""kubectl: what it reads, sends and prints."""
