"""What the scripts of live pages and of the playground say, to be translated.

A catalogue of its own, `live`, has it in the reader's language; a word that it lacks
stays English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from gettext import find, translation
from pathlib import Path
from typing import Any

from lifecycle.playground.lessons import LESSONS

CATALOGUE = "live"

LIVE = {
    "region": "Run this page",
    "begin": "Run this page here",
    "again": "Try again",
    "loading": "Loading Python and the book's Kubernetes",
    "ready": "Ready. Every cell has a Run button now; it runs those before it first.",
    "running": "Running …",
    "done": "Done in",
    "all": "Run all cells",
    "restart": "Start afresh",
    "run": "Run",
    "edit": "Edit",
    "editor": "The cell's code; Shift+Enter runs it",
    "stop": "Stop",
    "stopped": "Stopped. What the cells had made is gone; the next run begins afresh.",
    "broken": (
        "Python itself broke down ({}). What the cells had made is gone; the next run"
        " begins afresh."
    ),
    "failed": "That did not work:",
    "same": "The same as recorded.",
    "recorded": "When the book was built:",
    "other": "Not the same as recorded: the lines that differ are marked.",
    "file": (
        "A page opened from a file may not load Python, so its cells cannot run here."
        " Serve the site (make serve) and open it there; to read it needs nothing."
    ),
    "old": "This browser has no WebAssembly, so cells cannot run here; all else reads.",
}

KEPT = {
    "kept": "For later starts your browser keeps {} MB of this book.",
    "nothingKept": "Your browser keeps nothing of this page: each start loads it all.",
    "forget": "Let go of it",
    "forgotten": "Nothing of this book is kept in your browser any more.",
}
"""What a start leaves in the browser. Both kinds of page say it."""

ABSENT = {
    "library": "{} has no build for a browser tab",
    "thread": "it starts a thread, and a page has none",
    "socket": "it opens a socket, and a page has none",
    "linux": "it asks a Linux kernel, for {}",
    "before": "{} would come from a cell above that does not run here",
}
"""Why a cell does not run in a page; `in_page` names the reason."""

STAYS = "Not in a browser: {}. What was recorded stays."

PLAYGROUND = {
    "static": (
        "A cluster can be started here. It needs JavaScript, and a page that is served"
        " (make serve): one that was opened from a file may not load Python."
    ),
    "begin": "Start a cluster here",
    "again": "Start again",
    "loading": "Loading Python and the book's Kubernetes",
    "ready": "The cluster is ready. Type a command, or press a button.",
    "failed": "That did not work:",
    "noWorker": "the worker did not start",
    "old": "This browser has no WebAssembly, so no cluster can run here.",
    "clock": "Time in the cluster",
    "time": "The cluster's time",
    "pause": "Pause",
    "play": "Let time pass",
    "speed": "Speed",
    "next": "To the next change",
    "nextTitle": "Skip the time in which nothing happens",
    "second": "+1 s",
    "minute": "+1 min",
    "share": "Copy the address of this",
    "shared": "The address is copied. Whoever opens it sees the same, step by step.",
    "sharedNoClipboard": "The address of this page now says all that was typed.",
    "tooLongToShare": "What was typed is too long for an address.",
    "afresh": "Start afresh",
    "terminal": "Terminal",
    "output": "What the terminal printed",
    "line": "A command; Tab completes it, the arrow keys bring back earlier ones",
    "run": "Run",
    "stop": "Ctrl-C",
    "edit": "Write a manifest",
    "editTitle": "Write a manifest",
    "manifest": "The manifest, in YAML or JSON (Ctrl-Enter applies it)",
    "apply": "Apply it",
    "fileName": "File",
    "keep": "Keep it as a file",
    "close": "Close",
    "nothingWritten": "Nothing is written yet.",
    "noFileName": "A file needs a name of letters, digits, dots and hyphens.",
    "tooLongToWrite": "That was too long, and is cut off.",
    "breakTitle": "Do something, break something",
    "partsTitle": "Parts of the control plane",
    "breakComponent": "Stop {}",
    "mendComponent": "Start {} again",
    "breakLink": "Cut the line to {}",
    "mendLink": "Mend the line to {}",
    "nodes": "Nodes and their pods",
    "breakNode": "Pull the plug",
    "mendNode": "Plug in again",
    "breakLine": "Cut its line",
    "mendLine": "Mend its line",
    "tree": "Who owns what",
    "timeline": "What became of each pod",
    "timelineSays": "{pods} pods, {ready} of them ready, after {now} seconds",
    "noPods": "No pod has been here yet.",
    "events": "Events",
}

BREAKS = (
    ("A Deployment", "kubectl create deployment nginx --image=nginx --replicas=3"),
    ("A Service for it", "kubectl expose deployment nginx --port=80"),
    (
        "An image that does not exist",
        "kubectl set image deployment/nginx nginx=nginx:no-such",
    ),
    ("A failing probe", "kubectl apply --server-side -f failing-probe.yaml"),
    ("A full quota", "kubectl create quota full --hard=pods=3"),
    ("More than it allows", "kubectl scale deployment/nginx --replicas=6"),
    ("All pods deleted", "kubectl delete pods --all --wait=false"),
    ("Undo the roll-out", "kubectl rollout undo deployment/nginx"),
)
"""Buttons that type a line: what they say, and the line."""


def messages() -> Iterator[str]:
    """All of it, as a catalogue lists it."""
    yield from (*LIVE.values(), *KEPT.values(), *ABSENT.values(), STAYS)
    yield from (*PLAYGROUND.values(), *(title for title, _ in BREAKS))
    for lesson in LESSONS:
        yield from (lesson.title, lesson.look)


def translator(app: Any) -> Callable[[str], str]:
    """From English into the language that a site is built in."""
    languages = [app.config.language or "en"]
    for folder in app.config.locale_dirs:
        place = Path(app.srcdir, folder)
        if find(CATALOGUE, place, languages):
            return translation(CATALOGUE, place, languages).gettext
    return str


def said(words: Mapping[str, str], say: Callable[[str], str]) -> dict[str, str]:
    """The same words in another language."""
    return {key: say(text) for key, text in words.items()}
