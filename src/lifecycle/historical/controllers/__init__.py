"""Controllers: initializers, 1.7 to 1.13, alpha and off by default.

The server's half is `lifecycle.historical.apiserver.initializers`.
"""
