"""Two demos: images with `agnhost` that serve their root, where `data.json` says which
of the two it is. A test changes one into the other while it asks.

Upstream: `test/images/kitten`, `test/images/nautilus`, v1.36. Left out: their pictures.
"""

from __future__ import annotations

import json

from lifecycle.cri.images.reference import split_reference

_DEMOS = {
    f"registry.k8s.io/e2e-test-images/{name}": name for name in ("kitten", "nautilus")
}


def files_of_demo(image: str) -> dict[str, bytes]:
    """What lies in such an image; nothing for any other."""
    name = _DEMOS.get(split_reference(image)[0])
    return {"/data.json": json.dumps({"image": f"{name}.jpg"}).encode()} if name else {}
