"""The stages of the handler chain, one module each."""
