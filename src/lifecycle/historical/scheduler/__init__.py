"""How the scheduler decided before plugins: predicates, priorities, and the Policy file
that chose among them. Gone since v1.23.

They know today's pods and nodes from the framework. Where they leave something out,
each module says so. What became of them is in `policy.plugins_of`: an old file, as the
profile that it would be today.
"""
