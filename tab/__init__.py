"""Kubernetes in a browser tab: what the site serves so that a page's cells can run.

`python -m tab OUT` puts Python for WebAssembly, the package and the libraries that it
needs into a folder. The tests run rooms of the package with the same files in Node.
"""
