"""What kubectl's create commands make out of a few flags: plain API objects, before
anything is sent.

A generator is a function from parameters to an object. It knows nothing of flags,
clients or printing, and fills in nothing that the server defaults. The kind is fixed by
the command: nothing is guessed any more (for the time when it was,
there is `historical.kubectl.generators`).
"""
