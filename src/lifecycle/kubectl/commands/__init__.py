"""kubectl's commands: each parses its flags, checks what can be checked without the
server, and then talks to it.
"""
