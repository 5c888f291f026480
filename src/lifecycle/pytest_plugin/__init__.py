"""A cluster for the tests of those who write operators, controllers and clients:
fixtures for pytest, ours from the API server to the kubelets.

pytest finds `plugin` by the package's entry point; nothing of it is loaded before a
test asks for one of the fixtures.
"""
