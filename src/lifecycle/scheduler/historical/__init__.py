"""How the scheduler decided before plugins: predicates, priorities, and the Policy file
that chose among them. Gone since v1.23.

These are working models, for chapters and claims about older articles. Nothing that
runs uses them: they know the framework's pods and nodes, and nobody knows them. Where
they leave something out, each module says so. What became of them is in
`policy.plugins_of`: an old file, as the profile that it would be today.
"""
