"""An added API server of the book's own: `lookup.lifecycle.book/v1`, a glossary."""

from lifecycle.apiserver.extension_server.lookup_server import LookupServer

__all__ = ["LookupServer"]
