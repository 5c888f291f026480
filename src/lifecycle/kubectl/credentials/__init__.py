"""Credentials: what a client puts on a request, or shows in the handshake, to say who
it is.
"""
