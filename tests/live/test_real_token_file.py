"""`--token-auth-file` at the real kube-apiserver: it refuses what ours refuses, in the same words, and takes the same tokens for the same
users. Runs where `KUBE_BIN` is set.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Request
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore
from tests.apiserver.test_token_file import REFUSED
from tests.live.real_programs import RealControlPlane, kube_bin

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
BODY = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
FILE = 'abc,jane,7,"devs,ops"\n\nbare,joe,\nempty,kim,9,\ntwice,old,1\ntwice,new,2,more\n spaced,sam,3\n"quo""ted",lee,4,"g 1"\n'
TOKENS = ("abc", "bare", "empty", "twice", "spaced", 'quo"ted', "unknown", "")


class WithTokens(RealControlPlane):
    """Its API server has a token file."""

    def __init__(self, folder: Path, file: Path) -> None:
        super().__init__(folder, "bare", controllers=False)
        self.file = file

    def _api_server_flags(self, store: str) -> list[str]:
        return [*super()._api_server_flags(store), f"--token-auth-file={self.file}"]


def test_the_real_server_refuses_the_same_files(tmp_path: Path) -> None:
    program = kube_bin("kube-apiserver") / "kube-apiserver"

    def complaint(text: bytes) -> str:
        path = tmp_path / f"{list(REFUSED).index(text)}.csv"
        path.write_bytes(text)
        plane = WithTokens(tmp_path / path.stem, path)
        command = [str(program), *plane._api_server_flags("http://127.0.0.1:1")]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        [line] = [line for line in done.stderr.splitlines() if '"command failed" err=' in line]
        return str(json.loads(line.partition(" err=")[2])).replace(str(path), "FILE")

    with ThreadPoolExecutor(2) as pool:
        assert dict(zip(REFUSED, pool.map(complaint, REFUSED), strict=True)) == REFUSED


def test_the_real_server_takes_the_same_tokens_for_the_same_users(tmp_path: Path) -> None:
    kube_bin("kube-apiserver")
    path = tmp_path / "tokens.csv"
    path.write_text(FILE)
    with WithTokens(tmp_path / "plane", path) as plane:
        real = {token: ask_real(plane, token) for token in TOKENS}
    assert asyncio.run(ask_ours(path)) == real
    assert real["abc"] == (201, {"username": "jane", "uid": "7", "groups": ["devs", "ops", "system:authenticated"]})
    assert real["unknown"][0] == 401


def ask_real(plane: RealControlPlane, token: str) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    request = urllib.request.Request(plane.url + REVIEW, json.dumps(BODY).encode(), headers)
    tls = ssl.create_default_context(cadata=plane._authority.certificates.ca_pem.decode())
    try:
        with urllib.request.urlopen(request, context=tls, timeout=20) as answer:
            return answer.status, user_info(json.loads(answer.read()))
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read()).get("message")


async def ask_ours(path: Path) -> dict[str, tuple[int, Any]]:
    server = create_server_chain(MemoryStore(), authentication=AuthenticationOptions(token_auth_file=path))
    await server.start()
    try:
        answers = {}
        for token in TOKENS:
            headers = {
                "content-type": "application/json",
                "authorization": f"Bearer {token}",
                "accept": "application/json",
            }
            response = await server.handler(Request("POST", REVIEW, {}, headers, json.dumps(BODY).encode()))
            answers[token] = response.status, user_info(response.obj or json.loads(response.body or b""))
        return answers
    finally:
        await server.stop()


def user_info(answer: dict[str, Any]) -> Any:
    """Who it is; of a refusal its message. Extra says how one came in, which is not what is asked here."""
    if answer["kind"] == "Status":
        return answer.get("message")
    user = answer["status"]["userInfo"]
    user.pop("extra", None)
    return user
