"""The network between hollow pods: addresses, and what is said over connections."""
