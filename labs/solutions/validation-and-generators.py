"""Answers to labs/validation-and-generators.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_objectors = {
    "run web --image=Nginx:1.27": "kubectl",
    "run web --image=nginx:1.27 --restart=Sometimes": "kubectl",
    "run Web --image=nginx:1.27": "the server",
    "create deployment web --image=nginx:1.27 --port=70000": "the server",
    "create deployment web --image=my_app": "nobody",
    "create service clusterip web --tcp=80:eighty": "nobody",
}
your_repaired = {
    "nginx:1.27": False,
    "registry.example.com:5000/team/web:v1": False,
    "my_app": True,
    "k8s.gcr.io/pause-amd64:3.1": False,
    "a.b.c": True,
}
your_bytes = {"field": 1, "length": 5}


def your_deployment(name, image, port):
    labels = {"app": name}
    container = {"name": "nginx", "image": image, "ports": [{"containerPort": port}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container]},
            },
        },
    }


def called_after_the_deployment(name, image, port):
    labels = {"app": name}
    container = {"name": name, "image": image, "ports": [{"containerPort": port}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container]},
            },
        },
    }


your_red_rows = 3
your_minor = 18

MISTAKES = [
    Mistake(
        "objectors",
        {"run Web --image=nginx:1.27": "kubectl"},
        "A name is a name to kubectl. Whether the API allows it, the server knows.",
    ),
    Mistake(
        "objectors",
        {"run web --image=Nginx:1.27": "the server"},
        "`run` parses the image reference itself, and a capital letter is not allowed.",
    ),
    Mistake(
        "objectors",
        {"create service clusterip web --tcp=80:eighty": "kubectl"},
        "A target port may be a name: that of a container's port.",
    ),
    Mistake(
        "repaired",
        {"k8s.gcr.io/pause-amd64:3.1": True},
        "The dots of `k8s.gcr.io` are before the last slash, and a dash may stay.",
    ),
    Mistake(
        "repaired",
        {"a.b.c": False},
        "A dot is not allowed in a container's name: it becomes a dash.",
    ),
    Mistake(
        "bytes",
        {"field": 10},
        "`0a` is ten, which is the number of the field times eight, plus two.",
    ),
    Mistake(
        "deployment",
        called_after_the_deployment,
        "The container is called after its image.",
        seen=lambda left: left["container"] > 0 and not left["labels"],
    ),
    Mistake(
        "red_rows",
        5,
        "With `--restart=Always` forgetting makes no difference: it is the default.",
    ),
    Mistake(
        "minor",
        12,
        "That is when it was deprecated. It went on working for some versions.",
    ),
]
