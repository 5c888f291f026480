"""Models of what Kubernetes once did and does no longer.

They are kept because the articles that this book follows told of it: a reader can run
the old rule beside the new one, and a claim about it can be checked. Each sub-room has
the name of the component that it once was in; each module says when it went, and which
version upstream still has it.

No component that runs knows this room, and `lint-imports` sees to that. What a model
needs of today's components it imports; where it was part of a server (`apiserver`), it
comes in through the doors that upstream leaves open for anybody: a plugin that is
registered, a handler chain that is built differently.
"""
