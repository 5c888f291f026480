"""`python -m tests.fuzz_http.served FOLDER`: our API server, in a process that tells about itself.

The first line on stdout is its port; for each line on stdin there is one more, with what it holds. Its certificates are in the folder.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path

from lifecycle.api.http.wire import MASTERS
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore

PAGE = os.sysconf("SC_PAGE_SIZE")


def holdings() -> dict[str, int]:
    """Tasks, open descriptors, MiB. Linux."""
    gc.collect()
    memory = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE >> 20
    return {"tasks": len(asyncio.all_tasks()), "descriptors": len(os.listdir("/proc/self/fd")), "memory": memory}


async def serve(folder: Path) -> None:
    """Until stdin ends."""
    server = create_server_chain(MemoryStore())
    await server.start()
    port = await server.serve_https()
    certificate, key = server.certificates.client_certificate("fuzz", [MASTERS])
    (folder / "client.pem").write_bytes(certificate + key)
    print(port, flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(holdings()), flush=True)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
