"""The Container Network Interface: configuration, the plugins, and what joins the
nodes.
"""
