"""Headers that an HTTP library adds by itself.

aiohttp helps: who says nothing about what it reads, what it sends or who it is has it
said by the library. Whoever passes a request on must not say more than was said – a
body without a type is JSON to a Kubernetes server, and what aiohttp calls it, a stream
of octets, is nothing to it – and whoever is measured by what it sends says everything
itself.
"""

AUTO_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""For `aiohttp.ClientSession(skip_auto_headers=…)`: none of them unless asked for."""
