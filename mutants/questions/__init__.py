"""Questions that only mutants are asked."""
