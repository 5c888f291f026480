"""kubectl: `run`, when it made more than pods."""
