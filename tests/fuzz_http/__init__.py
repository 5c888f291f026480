"""Requests by the ten thousand to our API server on a real socket: `make fuzz-http`.

Four sources, all from one seed: what schemathesis makes of our own OpenAPI v3; objects into which hypothesis has put what does not
belong there; such objects as protobuf, with bytes changed; and HTTP/1.1 as only somebody writes it who means harm. No answer may be a
5xx that a real server would not give to the same bytes, nothing may be logged with a traceback, and afterwards the server holds no
more tasks, descriptors and memory than before.
"""
