"""`kubectl describe`: an object in words, with what belongs to it.

`get` shows rows that the server made; here kubectl itself knows the kinds. Each kind
has a describer that reads the object once more, and beside it what helps to understand
it: its events, a Deployment's ReplicaSets, a node's pods, a Service's addresses.
"""
