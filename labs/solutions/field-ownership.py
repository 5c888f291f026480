"""Answers to labs/field-ownership.ipynb, and words for common mistakes."""

from lifecycle.exercises.lab import Mistake

your_owners = {"x": ["cleo"], "y": ["bob"], "z": ["ann"]}
your_replicas = {"nothing happened": 1, "scaled to five": 5, "scaled to three": 1}
your_conflicts = {
    "applies another image": True,
    "applies the same image": False,
    "applies a second container": False,
    "applies another image, by force": False,
    "scales": False,
    "updates the whole object, with another image": False,
}


def your_record(book, manager, changed, gone):
    left = {who: keys - changed - gone for who, keys in book.items()}
    left[manager] = left.get(manager, set()) | changed
    return {who: keys for who, keys in left.items() if keys}


def nobody_loses(book, manager, changed, gone):
    left = {who: keys - gone for who, keys in book.items()}
    left[manager] = left.get(manager, set()) | changed
    return {who: keys for who, keys in left.items() if keys}


def what_is_gone_stays(book, manager, changed, gone):
    left = {who: keys - changed for who, keys in book.items()}
    left[manager] = left.get(manager, set()) | changed
    return {who: keys for who, keys in left.items() if keys}


def empty_pages(book, manager, changed, gone):
    left = {who: keys - changed - gone for who, keys in book.items()}
    left[manager] = left.get(manager, set()) | changed
    return left


your_fragment = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "nginx"},
    "spec": {
        "template": {
            "spec": {"containers": [{"name": "nginx", "image": "nginx:1.28"}]},
        },
    },
}

MISTAKES = [
    Mistake(
        "owners",
        {"x": None},
        "Ann has let go of it, but Cleo wants it, too.",
    ),
    Mistake(
        "owners",
        {"y": None},
        "Bob has taken it by force: it was not Ann's any more.",
    ),
    Mistake(
        "owners",
        {"z": None},
        "An empty value is a value: she wants the key.",
    ),
    Mistake(
        "owners",
        {"x": ["ann", "cleo"]},
        "Ann does not name it any more.",
    ),
    Mistake(
        "replicas",
        {"nothing happened": 3},
        "They were yours alone. What do you say by not naming them any more?",
    ),
    Mistake(
        "replicas",
        {"scaled to three": 3},
        "Has the scaling changed anything? Only what changes is taken.",
    ),
    Mistake(
        "replicas",
        {"scaled to five": 1},
        "The autoscaler owns them now, and what it wants stays.",
    ),
    Mistake(
        "conflicts",
        {"applies the same image": True},
        "You agree, and both own it.",
    ),
    Mistake(
        "conflicts",
        {"scales": True},
        "Scaling is a patch: it takes what it changes, and asks nobody.",
    ),
    Mistake(
        "conflicts",
        {"applies a second container": True},
        "Containers are owned one by one, by their names.",
    ),
    Mistake(
        "record",
        nobody_loses,
        "Whoever owned a value that has been changed does not own it any more.",
        seen=lambda books: "x" in books["a value changes"].get("ann", ()),
    ),
    Mistake(
        "record",
        what_is_gone_stays,
        "What is gone belongs to nobody.",
        seen=lambda books: "y" in books["a key goes"].get("ann", ()),
    ),
    Mistake(
        "record",
        empty_pages,
        "Somebody is in the book who owns nothing.",
        seen=lambda books: "ann" in books["nothing is left"],
    ),
    Mistake(
        "fragment",
        {
            "spec": {
                "replicas": 1,
                "template": your_fragment["spec"]["template"],
            }
        },
        "The pipeline has scaled you down to one: it does not care about replicas.",
        seen=lambda came: came["replicas"] == 1,
    ),
    Mistake(
        "fragment",
        {"metadata": {"name": "nginx", "labels": {"by": "pipeline"}}},
        "It owns more than the image and the name by which it finds the container.",
        seen=lambda came: len(came["owned"]) > 2,
    ),
]
