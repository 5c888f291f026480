"""Go's words: how its libraries read and write what Kubernetes passes on.

Clients see them in messages, in `kubectl`'s output and in bytes that are compared:
a duration is `1m30s`, a wrong regular expression is refused in RE2's words, equal
entries are sorted as Go's sort leaves them.
"""
