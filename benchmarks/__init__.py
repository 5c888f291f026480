"""What is measured, and how. `make bench` runs it; nothing here passes or fails."""
