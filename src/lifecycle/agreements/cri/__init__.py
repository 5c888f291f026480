"""Containers: how they start, what runs, how they end."""
