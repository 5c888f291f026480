"""The shell of hollow containers: what a line means, and what is done about it."""
