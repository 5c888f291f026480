"""Attempts at what the API server passes on, and whose a field is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any
from urllib.parse import quote


def front_proxy_headers(slip: str) -> Callable[..., Any]:
    """Only then the identity, when nothing else can be one."""
    connection = "accept-encoding connection content-length host keep-alive te trailer transfer-encoding upgrade"
    connection += " proxy-authenticate proxy-authorization"

    def proxied(headers: Any, user: Any) -> Any:
        lines = []
        for name in headers:
            if name in connection.split() and slip != "the connection goes along":
                continue
            if name == "x-remote-user" and slip == "only the name is taken off":
                continue
            if name.startswith("x-remote-") and slip not in ("forged ones go along", "only the name is taken off"):
                continue
            if name.startswith("x-remote") and slip == "too much is taken off":
                continue
            if slip == "the first value":
                lines.append([name, headers[name][0]])
            else:
                lines.extend([name, value] for value in headers[name])
        lines.append(["X-Remote-User", user["name"]])
        if user["uid"] or slip == "an empty uid":
            lines.append(["X-Remote-Uid", user["uid"]])
        if slip == "one line of groups":
            lines.append(["X-Remote-Group", ",".join(user["groups"])])
        else:
            lines.extend(["X-Remote-Group", group] for group in user["groups"])
        for key, values in user["extra"].items():
            written = key if slip == "keys as they are" else quote(key, safe="!#$&'*+-.^_`|~")
            if slip == "small letters":
                written = quote(key, safe="").lower()
            lines.extend([f"X-Remote-Extra-{written}", value] for value in values)
        return lines

    return proxied


def field_owners(slip: str) -> Callable[..., Any]:
    """The book turned round: the owners of each field."""

    def apply(live: Any, owners: Any, wish: Any, manager: str, force: bool) -> Any:
        book: dict[str, set[str]] = defaultdict(set)
        for who, fields in owners.items():
            for field in fields:
                book[field].add(who)
        disputed = sorted(
            [who, field]
            for field in wish
            if live.get(field) != wish[field] or slip == "agreeing is a conflict"
            for who in book[field] - {manager}
        )
        if slip == "one's own is not disputed":
            disputed = [[who, field] for who, field in disputed if manager not in book[field]]
        if disputed and not force and slip != "nobody is asked":
            return {"conflicts": disputed}
        after = dict(live)
        for field in live:
            if manager in book[field] and field not in wish and slip != "it stays one's own":
                book[field].discard(manager)
                if (not book[field] and slip != "nothing is removed") or slip == "others do not count":
                    del after[field]
            elif field not in wish and not book[field] and slip == "nobody's fields go":
                del after[field]
        for field in wish:
            if live.get(field) != wish[field] and slip != "losers keep it":
                book[field] = set()
            if slip == "taken from all":
                book[field] = set()
            book[field].add(manager)
            after[field] = wish[field]
        found: dict[str, list[str]] = {}
        for field in sorted(book):
            for who in book[field]:
                found.setdefault(who, []).append(field)
        if slip == "empty pages":
            found = {**{who: [] for who in owners}, **found}
        return {"live": after, "owners": found}

    return apply
