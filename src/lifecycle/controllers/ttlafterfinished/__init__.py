"""Finished Jobs that said how long they want to be kept."""
