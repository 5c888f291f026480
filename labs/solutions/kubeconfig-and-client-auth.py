"""Answers to labs/kubeconfig-and-client-auth.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_client = {
    "current context": "dev",
    "server": "https://one",
    "token": "jane's",
    "namespace": "default",
    "name in the certificate": "the server's",
}
your_fine_flag = "server"
your_changes = {
    "set-credentials jane --token=new": "two",
    "set-context dev --namespace=bank": "one",
    "set-context lab --cluster=east --user=joe": "one",
    "use-context lab": "one",
    "use-context nowhere": "none",
    "delete-context lab": "one",
}
your_plugin = """
import json, os, sys, urllib.parse
told = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
server = told["spec"]["cluster"]["server"]
host = urllib.parse.urlsplit(server).hostname
status = {"token": "token-for-" + host}
answer = {"apiVersion": told["apiVersion"], "kind": "ExecCredential", "status": status}
sys.stdout.write(json.dumps(answer))
"""


def your_merge(documents):
    merged = {"current-context": "", "clusters": {}, "users": {}, "contexts": {}}
    for document in documents:
        for section in ("clusters", "users", "contexts"):
            for entry in document.get(section, []):
                merged[section].setdefault(entry["name"], entry)
        merged["current-context"] = merged["current-context"] or document.get(
            "current-context", ""
        )
    return merged


def the_last_file_wins(documents):
    merged = {"current-context": "", "clusters": {}, "users": {}, "contexts": {}}
    for document in documents:
        for section in ("clusters", "users", "contexts"):
            for entry in document.get(section, []):
                merged[section][entry["name"]] = entry
        if document.get("current-context"):
            merged["current-context"] = document["current-context"]
    return merged


def the_first_file_decides_the_context(documents):
    merged = {"current-context": "", "clusters": {}, "users": {}, "contexts": {}}
    for document in documents:
        for section in ("clusters", "users", "contexts"):
            for entry in document.get(section, []):
                merged[section].setdefault(entry["name"], entry)
    if documents:
        merged["current-context"] = documents[0].get("current-context", "")
    return merged


THE_PORT_TOO = your_plugin.replace(".hostname", ".netloc")

MISTAKES = [
    Mistake(
        "client",
        {"namespace": "shop"},
        "The namespace stands in a context of the second file, and the first has one of"
        " the same name.",
    ),
    Mistake(
        "client",
        {"name in the certificate": "api"},
        "Entries are not mixed: the cluster of the first file hides the other whole.",
    ),
    Mistake(
        "client",
        {"server": "https://two"},
        "The first file that has the entry wins, not the last.",
    ),
    Mistake(
        "client",
        {"token": "joe's"},
        "Whose token it is follows from the context, and that is the first file's.",
    ),
    Mistake(
        "fine_flag",
        "username",
        "A user name is for a password, and jane has a token already. Both are one too"
        " many.",
    ),
    Mistake(
        "fine_flag",
        "certificate-authority",
        "A file that is named has to be there.",
    ),
    Mistake(
        "changes",
        {"set-credentials jane --token=new": "one"},
        "Where was jane before? A change goes where the entry is.",
    ),
    Mistake(
        "changes",
        {"use-context lab": "two"},
        "The current context came from the second file, but it is written into the"
        " first.",
    ),
    Mistake(
        "plugin",
        THE_PORT_TOO,
        "The port does not belong to the host.",
        seen=lambda tokens: "6443" in tokens["https://bank.example:6443"],
    ),
    Mistake(
        "merge",
        the_last_file_wins,
        "Two files have an entry of the same name, and the first of them wins.",
        seen=lambda right: right["clusters"] < 300,
    ),
    Mistake(
        "merge",
        the_first_file_decides_the_context,
        "The first file may have no current context. Then the next is asked.",
        seen=lambda right: right["clusters"] == 300,
    ),
]
