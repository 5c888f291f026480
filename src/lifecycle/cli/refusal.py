"""Refusals: one line on stderr that says what is wrong and what to do, and an exit code other than zero; never a traceback.

Usage errors leave with 2, as click's own do; everything else with 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


class Refusal(click.ClickException):
    """One line, exit code 1."""

    def show(self, file: Any = None) -> None:
        """One line on stderr."""
        click.echo(f"lifecycle: {' '.join(self.format_message().split())}", err=True)


class Misused(Refusal):
    """The command line asks for something that does not exist: exit code 2."""

    exit_code = 2


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what can go wrong outside this program – files, sockets, clusters, time – into a `Refusal`."""
    import urllib3
    import yaml
    from kubernetes.client import ApiException
    from kubernetes.config import ConfigException

    from lifecycle.api.status import StatusError
    from lifecycle.inspector import InspectorError

    try:
        yield
    except TimeoutError as error:
        raise Refusal(str(error) or "it took too long") from None
    except (InspectorError, OSError, UnicodeDecodeError, ValueError, StatusError, ConfigException) as error:
        raise Refusal(str(error)) from None
    except yaml.YAMLError as error:
        raise Refusal(f"not readable as YAML: {error}") from None
    except urllib3.exceptions.HTTPError as error:
        raise Refusal(f"the cluster does not answer: {error}") from None
    except ApiException as error:
        raise Refusal(f"the cluster refuses: {error.status} {error.reason}") from None
