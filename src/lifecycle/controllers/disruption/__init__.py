"""Disruption budgets: how many pods of a kind may be taken away on purpose."""
