"""The API server's stages, held against real ones."""
