"""What the API server stores before anybody asks: the default roles, bindings, flow
schemas and priority classes.
"""
