"""One module per stage: what a recorded cluster was asked, asked again of our stage,
and both answers laid side by side.

Each has a function that takes a recording and returns an `AgreementTable`; where it
makes sense it also takes the stage to be judged, so that a reader's own
re-implementation can stand in ours' place. Chapters print the table, labs and tests
assert on it.
"""
