"""Where the pages' links *Edit it* and *Report a mistake* lead: to the place that this
clone came from, if that is a web address. `BOOK_REPOSITORY` says another one.

`BOOK_SITE` is the address at which the site will be published. A card in a social
network needs it: its picture has to be named in full.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any


def web_address(remote: str) -> str:
    """The web address of a git remote: without a password, without `.git`. Empty for a
    folder or anything else that a browser cannot open.
    """
    over_ssh = re.fullmatch(r"(?:ssh://)?git@([\w.-]+)[:/](.+?)(?:\.git)?/?", remote)
    if over_ssh:
        return f"https://{over_ssh[1]}/{over_ssh[2]}"
    over_web = re.fullmatch(r"https://(?:[^@/]*@)?(.+?)(?:\.git)?/?", remote)
    return f"https://{over_web[1]}" if over_web else ""


def origin(folder: Path) -> str:
    """What git calls `origin` there, or nothing."""
    asked = subprocess.run(
        ["git", "-C", str(folder), "remote", "get-url", "origin"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()


def tell(app: Any, config: Any) -> None:
    """Hand it to the pages."""
    remote = os.environ.get("BOOK_REPOSITORY") or origin(Path(app.confdir))
    config.html_context["repository_url"] = web_address(remote)
    site = os.environ.get("BOOK_SITE", "")
    config.ogp_site_url = f"{site.rstrip('/')}/" if site else ""


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("config-inited", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
