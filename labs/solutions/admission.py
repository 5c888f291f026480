"""Answers to labs/admission.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_admitted = {
    "LimitRanger pod max": False,
    "quota demands requests": False,
    "PodSecurity warning on a workload": True,
    "Priority missing class": False,
    "ServiceAccount no automount": True,
    "NodeRestriction": False,
}
your_lists = ("initContainers", "containers", "ephemeralContainers")
your_created = {
    "AddTeam, WantTeam": True,
    "WantTeam, AddTeam": True,
    "HastyWantTeam, AddTeam": False,
}
your_missing = 5

MISTAKES = [
    Mistake(
        "admitted",
        {"quota demands requests": True},
        "A pod that says nothing cannot be counted, so it is refused.",
    ),
    Mistake(
        "admitted",
        {"PodSecurity warning on a workload": False},
        "There is only a warning about a Deployment. Its pods are refused later.",
    ),
    Mistake(
        "admitted",
        {"LimitRanger pod max": True},
        "The containers are within bounds, but there is a bound for their sum.",
    ),
    Mistake(
        "lists",
        {0: "containers", 1: "containers", 2: "containers"},
        "Somebody starts before the containers do.",
        seen=lambda policy: policy["before"] != "Always",
    ),
    Mistake(
        "lists",
        {0: "containers", 1: "initContainers", 2: "containers"},
        "`kubectl debug` adds containers, too. They are in a list of their own.",
        seen=lambda policy: policy["before"] == "Always",
    ),
    Mistake(
        "created",
        {"WantTeam, AddTeam": False},
        "Whoever validates is asked after everybody has mutated, wherever it stands.",
    ),
    Mistake(
        "created",
        {"HastyWantTeam, AddTeam": True},
        "It does not wait for the second phase, and the label is not there yet.",
    ),
    Mistake(
        "missing",
        3,
        "Those are the refusals. Somebody misses the defaults, too.",
    ),
]
