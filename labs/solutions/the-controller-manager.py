"""Answers to labs/the-controller-manager.ipynb, and words for common mistakes."""

from lifecycle.exercises.lab import Mistake

your_running = {
    "*": True,
    "*,-job-controller": False,
    "-deployment-controller": False,
    "deployment-controller,job-controller": True,
    "-job-controller,job-controller": False,
}
your_writers = {
    ("create", "replicasets", ""): "deployment-controller",
    ("create", "pods", ""): "replicaset-controller",
    ("update", "deployments", "status"): "deployment-controller",
    ("update", "replicasets", "status"): "replicaset-controller",
    ("create", "pods", "binding"): "kube-scheduler",
    ("deletecollection", "deployments", ""): "namespace-controller",
}
your_takeovers = {
    (2, 10): False,
    (2, 16): False,
    (2, 18): True,
    (14, 20): False,
    (40,): False,
    (40, 56): True,
}


async def your_worker(queue, sync):
    while True:
        key = await queue.get()
        try:
            await sync(key)
        except Exception:
            queue.add_rate_limited(key)
        else:
            queue.forget(key)
        finally:
            queue.done(key)


async def dies(queue, sync):
    while True:
        key = await queue.get()
        await sync(key)
        queue.done(key)


async def never_again(queue, sync):
    while True:
        key = await queue.get()
        try:
            await sync(key)
        except Exception:
            pass
        else:
            queue.forget(key)
        finally:
            queue.done(key)


async def never_forgets(queue, sync):
    while True:
        key = await queue.get()
        try:
            await sync(key)
        except Exception:
            queue.add_rate_limited(key)
        finally:
            queue.done(key)


async def done_if_it_worked(queue, sync):
    while True:
        key = await queue.get()
        try:
            await sync(key)
        except Exception:
            queue.add_rate_limited(key)
        else:
            queue.forget(key)
            queue.done(key)


your_late = {
    "update, with the resourceVersion it had read": 409,
    "update, without a resourceVersion": 200,
    "create, of a name that is there": 409,
    "create, of a new name": 201,
    "delete, with the uid it had read": 409,
    "delete, by name alone": 200,
}

MISTAKES = [
    Mistake(
        "running",
        {"-deployment-controller": True},
        "Nobody has said that the others should run: there is no star.",
    ),
    Mistake(
        "running",
        {"-job-controller,job-controller": True},
        "Two words about one controller: the first one counts.",
    ),
    Mistake(
        "writers",
        {("create", "pods", ""): "deployment-controller"},
        "A Deployment makes ReplicaSets. Who makes pods of those?",
    ),
    Mistake(
        "writers",
        {("deletecollection", "deployments", ""): "kubernetes-admin"},
        "The administrator deleted the namespace. Who swept it out?",
    ),
    Mistake(
        "writers",
        {("create", "pods", "binding"): "replicaset-controller"},
        "A binding says on which node. Who decides that?",
    ),
    Mistake(
        "takeovers",
        {(40,): True},
        "It sees the lease for the first time: it may have been renewed this second.",
    ),
    Mistake(
        "takeovers",
        {(2, 16): True},
        "It has seen it for fourteen seconds.",
    ),
    Mistake(
        "takeovers",
        {(14, 20): True},
        "It has seen it for six seconds. What stands in it does not count.",
    ),
    Mistake(
        "worker",
        dies,
        "One bad object has stopped the loop for all the others.",
        seen=lambda life: life["died"],
    ),
    Mistake(
        "worker",
        never_again,
        "A key that failed is not tried again.",
        seen=lambda life: life["flaky"] == 2,
    ),
    Mistake(
        "worker",
        done_if_it_worked,
        "A key that failed once is never given out again: nobody has said `done`.",
        seen=lambda life: life["flaky"] == 1,
    ),
    Mistake(
        "worker",
        never_forgets,
        "It worked in the end. If it fails again next week, how long will it wait?",
        seen=lambda life: life["failures remembered"] > 0,
    ),
    Mistake(
        "late",
        {"create, of a new name": 409},
        "Nothing in the request is out of date, and nobody asks who leads.",
    ),
    Mistake(
        "late",
        {"update, without a resourceVersion": 409},
        "Without a version, it replaces whatever is there.",
    ),
    Mistake(
        "late",
        {"delete, with the uid it had read": 200},
        "The name is the same. The object is another one.",
    ),
]
