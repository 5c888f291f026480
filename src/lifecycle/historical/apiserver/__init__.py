"""The API server: passwords, InitialResources, its half of initializers."""
