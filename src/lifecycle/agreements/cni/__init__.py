"""The pod network: what plugins answer and set up."""
