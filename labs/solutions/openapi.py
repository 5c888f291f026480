"""Answers to labs/openapi.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_lists = {
    "containers": "map",
    "ports of a container": "map",
    "args of a container": "atomic",
    "volumes": "map",
    "tolerations": "atomic",
    "finalizers": "set",
}
your_answers = {
    "Strict": {"status": 400, "replicas": None},
    "Warn": {"status": 201, "replicas": 1},
    "Ignore": {"status": 201, "replicas": 1},
}
your_changed = {
    "api/v1": False,
    "apis/apps/v1": False,
    "apis/apiextensions.k8s.io/v1": False,
    "apis/book.example.com/v1": True,
}


def your_type(schema):
    if "items" in schema:
        return "[]" + your_type(schema["items"])
    if schema.get("additionalProperties"):
        return "map[string]" + your_type(schema["additionalProperties"])
    if len(schema.get("allOf", ())) == 1:
        return your_type(schema["allOf"][0])
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        kind = schemas[name].get("type", "object")
        return name.rpartition(".")[2] if kind == "object" else kind
    kind = schema.get("type", "object")
    return "Object" if kind == "object" else kind


def without_maps(schema):
    if "items" in schema:
        return "[]" + your_type(schema["items"])
    if len(schema.get("allOf", ())) == 1:
        return your_type(schema["allOf"][0])
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        kind = schemas[name].get("type", "object")
        return name.rpartition(".")[2] if kind == "object" else kind
    kind = schema.get("type", "object")
    return "Object" if kind == "object" else kind


def always_the_name(schema):
    if "items" in schema:
        return "[]" + your_type(schema["items"])
    if schema.get("additionalProperties"):
        return "map[string]" + your_type(schema["additionalProperties"])
    if len(schema.get("allOf", ())) == 1:
        return your_type(schema["allOf"][0])
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2].rpartition(".")[2]
    kind = schema.get("type", "object")
    return "Object" if kind == "object" else kind


def no_references(schema):
    if "items" in schema:
        return "[]" + your_type(schema["items"])
    if schema.get("additionalProperties"):
        return "map[string]" + your_type(schema["additionalProperties"])
    kind = schema.get("type", "object")
    return "Object" if kind == "object" else kind


your_doors = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "color": {"type": "string"}},
    },
}

MISTAKES = [
    Mistake(
        "lists",
        {"tolerations": "map"},
        "A toleration has no name, and one key may be tolerated twice.",
    ),
    Mistake(
        "lists",
        {"args of a container": "set"},
        "A program may be given the same word twice, and their order counts.",
    ),
    Mistake(
        "lists",
        {"finalizers": "atomic"},
        "Each finalizer belongs to another program: nobody owns all of them.",
    ),
    Mistake(
        "answers",
        {"Warn": {"status": 201, "replicas": 3}},
        "A warning is all you get: nobody guesses that you meant `replicas`.",
    ),
    Mistake(
        "answers",
        {"Ignore": {"status": 400, "replicas": None}},
        "Ignored is ignored: the rest of the object is fine.",
    ),
    Mistake(
        "answers",
        {"Strict": {"status": 422, "replicas": None}},
        "It never comes to validation: the decoder complains, and that is a 400.",
    ),
    Mistake(
        "changed",
        {"api/v1": True, "apis/apps/v1": True, "apis/apiextensions.k8s.io/v1": True},
        "Each document has a hash of its own content.",
    ),
    Mistake(
        "changed",
        {"apis/apiextensions.k8s.io/v1": True},
        "That document describes what a definition looks like, and this is the same.",
    ),
    Mistake(
        "type",
        no_references,
        "A field may refer to its schema, alone or in an `allOf` of one.",
        seen=lambda types: types["Deployment.spec"] == "Object",
    ),
    Mistake(
        "type",
        without_maps,
        "Labels are a map: its values' schema stands in `additionalProperties`.",
        seen=lambda types: types["ObjectMeta.labels"] != "map[string]string",
    ),
    Mistake(
        "type",
        always_the_name,
        "Follow the reference: a Time is a string.",
        seen=lambda types: types["ObjectMeta.creationTimestamp"] == "Time",
    ),
    Mistake(
        "doors",
        {"x-kubernetes-list-type": "atomic", "x-kubernetes-list-map-keys": []},
        "Without a key the list has one owner, and Bob is refused.",
        seen=lambda came: "conflict" in came["doors"],
    ),
    Mistake(
        "doors",
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["color"]},
        "What tells two doors apart, and does every door have to have it?",
        seen=lambda came: isinstance(came["doors"], str),
    ),
]
