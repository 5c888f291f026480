"""Node health: who has not been heard of, what that means for its taints, and how
fast.
"""
