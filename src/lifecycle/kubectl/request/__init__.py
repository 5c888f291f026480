"""One request on its way out: throttled, signed, logged, sent, and sent again if the
server says so.
"""
