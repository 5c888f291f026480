"""CEL, the Common Expression Language, as Kubernetes speaks it: the environment that
policies are compiled in.

The language itself is Google's C++ implementation (`cel-expr-python`). What Kubernetes
adds to it is here: functions on lists, strings, quantities, versions, addresses and
URLs, the `authorizer`, the `Object{…}` literals of mutating policies, and what an
expression may cost at most (`cost_estimator`). Nothing in
this room knows about admission; whoever has other variables (validation rules of custom
resources, authentication) brings them along.
"""
