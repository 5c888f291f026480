"""What does this server serve? Asked over the wire, kept on disk, and looked up by
whatever name was typed.
"""
