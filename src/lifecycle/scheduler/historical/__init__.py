"""How the scheduler decided before plugins: predicates, priorities, and the Policy file
that chose among them (gone since v1.23).
"""
