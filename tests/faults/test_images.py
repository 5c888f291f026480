"""An image that does not exist: the recorded words, a longer and longer wait, and all is well once somebody pushes it."""

from __future__ import annotations

from itertools import pairwise

from tests.faults.scene import DEPLOYMENTS, PODS, Accident, condition, deployment, happen, pod, ready

IMAGE = "registry.example.com/team/app:2"
WHY = (
    f'rpc error: code = NotFound desc = failed to pull and unpack image "{IMAGE}": failed to resolve reference "{IMAGE}": '
    f"{IMAGE}: not found"
)


def test_an_image_that_appears_later_is_pulled_by_itself() -> None:
    async def scene(cluster: Accident) -> None:
        for runtime in cluster.runtimes.values():
            runtime.images.missing.add(IMAGE)
        await cluster.user.create(PODS, pod("app", IMAGE), "default")
        (waiting,) = await cluster.until("pods", lambda pods: _reason(pods[0]) == "ImagePullBackOff")
        assert (waiting["status"]["phase"], condition(waiting, "Ready")["reason"]) == ("Pending", "ContainersNotReady")
        message = waiting["status"]["containerStatuses"][0]["state"]["waiting"]["message"]
        assert message == f'Back-off pulling image "{IMAGE}": ErrImagePull: {WHY}'
        await cluster.until("events", lambda events: any(event["reason"] == "BackOff" for event in events))
        assert {event[:3] for event in await cluster.events("app")} == {
            ("Normal", "Scheduled", "Successfully assigned default/app to lifecycle-worker"),
            ("Normal", "Pulling", f'Pulling image "{IMAGE}"'),
            ("Warning", "Failed", f'Failed to pull image "{IMAGE}": {WHY}'),
            ("Warning", "Failed", "Error: ErrImagePull"),
            ("Normal", "BackOff", f'Back-off pulling image "{IMAGE}"'),
            ("Warning", "Failed", "Error: ImagePullBackOff"),
        }
        for runtime in cluster.runtimes.values():
            runtime.images.missing.clear()
        (running,) = await cluster.until("pods", ready, seconds=301)
        assert running["metadata"]["uid"] == waiting["metadata"]["uid"]
        assert running["status"]["containerStatuses"][0]["restartCount"] == 0
        assert await cluster.events("app", "Started") == [("Normal", "Started", "Container started", 1)]

    happen(scene)


def test_the_wait_between_attempts_doubles_up_to_five_minutes() -> None:
    async def scene(cluster: Accident) -> list[int]:
        runtime, at = cluster.runtimes["lifecycle-worker"], []
        runtime.images.missing.add(IMAGE)
        pull = runtime.pull_image

        async def pull_image(image: str, auth: object = None) -> str:
            at.append(cluster.clock.now())
            return await pull(image, auth)  # type: ignore[arg-type]

        runtime.pull_image = pull_image  # type: ignore[method-assign]
        await cluster.user.create(PODS, pod("app", IMAGE), "default")
        await cluster.until("pods", lambda _: len(at) >= 9, seconds=3600)
        return [round(later - earlier) for earlier, later in pairwise(at)]

    waits = happen(scene)
    for number, wait in enumerate(
        waits
    ):  # never earlier than 10 s, 20 s … 300 s; the worker comes back up to half as much later
        least = min(10 * 2**number, 300)
        assert least <= wait <= least * 1.5 + 15, waits


def test_a_rollout_to_a_broken_image_keeps_the_old_pods_and_can_be_corrected() -> None:
    async def scene(cluster: Accident) -> None:
        spec = deployment(3)
        spec["spec"]["progressDeadlineSeconds"] = 60
        await cluster.user.create(DEPLOYMENTS, spec, "default")
        await cluster.until("pods", lambda pods: ready(pods) == 3)
        before = set(await cluster.pods())
        await _set_image(cluster, "nope.invalid/none:1")
        (stuck,) = await cluster.until(
            "deployments.apps", lambda found: condition(found[0], "Progressing")["status"] == "False"
        )
        progressing = condition(stuck, "Progressing")
        assert progressing["reason"] == "ProgressDeadlineExceeded"
        assert progressing["message"].endswith("has timed out progressing.")
        assert condition(stuck, "Available")["status"] == "True"
        assert stuck["status"]["availableReplicas"] == 3
        pods = await cluster.pods()
        assert before < set(pods)
        assert ready(list(pods.values())) == 3
        await _set_image(cluster, "nginx:1.26")
        done = await cluster.until(
            "pods", lambda pods: len(pods) == ready(pods) == 3 and _images(pods) == {"nginx:1.26"}
        )
        assert not before & {each["metadata"]["uid"] for each in done}
        (well,) = await cluster.until(
            "deployments.apps", lambda found: condition(found[0], "Progressing")["status"] == "True"
        )
        assert condition(well, "Progressing")["reason"] in ("ReplicaSetUpdated", "NewReplicaSetAvailable")

    happen(scene, nodes=3)


def _reason(found: dict) -> str:  # type: ignore[type-arg]
    status = (found["status"].get("containerStatuses") or [{}])[0]
    return str(status.get("state", {}).get("waiting", {}).get("reason", ""))


def _images(pods: list) -> set[str]:  # type: ignore[type-arg]
    return {each["spec"]["containers"][0]["image"] for each in pods}


async def _set_image(cluster: Accident, image: str) -> None:
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}
    await cluster.user.patch(DEPLOYMENTS, "web", "default", patch, patch_type="application/strategic-merge-patch+json")
