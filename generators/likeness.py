"""`cluster/kind-1.36.2.json.gz`: what `--like kind` needs of the recording.

From a recording: every object that `lifecycle.cluster.like` would plant from the lists
of scenarios *objects* and *authz*, in the order of planting, and the images that each
node had. 310 objects are 450 kB of JSON, 48 kB packed. zlib decides the last bytes of
the file: another zlib may pack the same JSON differently.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from generators.first_line import provenance
from lifecycle.api import fast_json
from lifecycle.cluster.like import REDUCED as FILE
from lifecycle.cluster.like import read, recorded_images

__all__ = ["FILE", "generate"]


def generate(recording: Path) -> bytes:
    """The file. Raises ValueError for a folder that is no recording."""
    likeness = read(recording)
    what = "The objects of a fresh kind cluster, and the images on its nodes"
    source = f"recordings/{recording.name} (objects, authz, node)"
    document = {
        "source": provenance(what, source, "likeness"),
        "objects": [obj for _, obj in likeness.objects],
        "images": {
            shape.name: [
                {key: image[key] for key in ("id", "repoTags", "size")}
                for image in recorded_images(recording, shape.name)
            ]
            for shape in likeness.nodes
        },
    }
    return gzip.compress(fast_json.dumps(document), 9, mtime=0)
