"""Kinds that have no home of their own yet: their rules lie here by topic.

`strategies` gathers what the tables say of one kind, so that the registry sees no
difference. A kind that moves to `registry/<group>/` takes its entries out of all of
them; when the last has moved, this folder is gone.
"""
