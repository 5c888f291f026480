"""A whole cluster on virtual time, with faults drawn from a seed: `make chaos`.

A scenario is a list of what users do and a list of what goes wrong. It is played twice, without the faults and with them. When
the faults are over and things have settled, both clusters must look the same, nothing may be left behind, and at no moment may
the history have broken what the Kubernetes API promises (`invariants.py` lists that). A scenario that fails is shrunk.
"""
