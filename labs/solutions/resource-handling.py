"""Answers to labs/resource-handling.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_status = {
    "POST a ConfigMap m": 201,
    "POST it again": 409,
    "PUT other at the path of m": 400,
    "PUT mx, which is not there": 404,
    "POST a Pod to configmaps": 400,
    "PUT to the collection": 405,
    "GET m/status": 404,
    "POST the name NOT A NAME": 422,
}
your_patches = {"conflicts": 0, "fields": 20, "revisions": 20}
your_schema = {
    "type": "object",
    "required": ["title"],
    "properties": {
        "title": {"type": "string"},
        "steps": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "minutes": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 600,
                        "default": 10,
                    },
                },
            },
        },
    },
}
A_STEP = your_schema["properties"]["steps"]["items"]
NO_BOUNDS = {"name": {"type": "string"}, "minutes": {"type": "integer", "default": 10}}
your_red_rows = 2

MISTAKES = [
    Mistake(
        "status",
        {"PUT other at the path of m": 409},
        "The path and the body name two objects: the request contradicts itself.",
    ),
    Mistake(
        "status",
        {"PUT mx, which is not there": 201},
        "A PUT replaces. Only a few kinds are created by one.",
    ),
    Mistake(
        "status",
        {"GET m/status": 405},
        "ConfigMaps have no status: that path is nowhere.",
    ),
    Mistake(
        "status",
        {"POST the name NOT A NAME": 400},
        "The request could be read. It is what it says that is invalid.",
    ),
    Mistake(
        "patches",
        {"conflicts": 19},
        "They named no version, so the server tries again for them.",
    ),
    Mistake(
        "patches",
        {"revisions": 1},
        "Each write that succeeds is a revision.",
    ),
    Mistake(
        "schema",
        {
            "properties": {
                "title": {"type": "string"},
                "steps": {"type": "array", "items": A_STEP},
            }
        },
        "Two steps may still have the same name: tell the list what its keys are.",
        seen=lambda said: (
            said["two steps of a name"] == "kept" and said["601 minutes"] == "refused"
        ),
    ),
    Mistake(
        "schema",
        {
            "properties": {
                "title": {"type": "string"},
                "steps": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": NO_BOUNDS,
                    },
                },
            }
        },
        "The minutes have bounds, at both ends.",
        seen=lambda said: said["601 minutes"] == "kept",
    ),
    Mistake(
        "red_rows",
        1,
        "The write that should have been refused leaves a trace in another row, too.",
    ),
]
