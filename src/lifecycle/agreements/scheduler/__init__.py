"""The scheduler's decisions, queue and writes."""
