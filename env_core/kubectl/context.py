"""What a kubectl verb holds: the API as the user, the clock, the terminal's files, the registry of kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from env_core.apiserver.client import ApiClient
from env_core.apiserver.kind import Kind
from env_core.kubectl.kubeconfig import Kubeconfig
from env_core.world import Output


class Files(Protocol):
    """The files of the terminal in which kubectl runs."""

    def read(self, path: str) -> str:
        """Return a file's text.

        Raises:
            FileNotFoundError: if there is none.
        """

    def write(self, path: str, text: str) -> None:
        """Replace a file's text.

        Raises:
            OSError: if it may not be; its text is Go's.
        """

    def makedirs(self, path: str) -> None:
        """Make a directory and those above it, as far as they are missing.

        Raises:
            OSError: if it may not be; its text is Go's.
        """

    def remove(self, path: str) -> None:
        """Remove a file, if there is one."""

    def listdir(self, path: str) -> Sequence[str]:
        """Return the sorted names in a directory.

        Raises:
            FileNotFoundError: if there is none.
        """

    def is_dir(self, path: str) -> bool:
        """Whether `path` is a directory."""

    def absolute(self, path: str) -> str:
        """Return `path` from the root on, cleaned."""


class Clock(Protocol):
    """Virtual time, as a waiting command sees it."""

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""

    def advance(self, duration_ms: int) -> None:
        """Let time pass; the cluster goes on meanwhile."""

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        """Let time pass until `is_met()` after some event, or `timeout_ms`; return whether it was met."""


class Launcher(Protocol):
    """The shell that runs kubectl, as far as kubectl starts programs itself."""

    def variable(self, name: str) -> str:
        """Return an environment variable, "" for none."""

    def has(self, program: str) -> bool:
        """Whether there is a program of that name."""

    def start(self, argv: Sequence[str], stdin: str) -> Output:
        """Run a program, or what its path leads to, and return what it leaves."""


class Discovery(Protocol):
    """What the API serves, as discovery tells it."""

    def find(self, name: str) -> Kind | None:
        """Return the kind for a plural, singular, short name, Kind or group-qualified form of them."""

    def by_gvk(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of a manifest."""

    def all(self) -> tuple[Kind, ...]:
        """Return every resource's kind, in its preferred version, in discovery order."""

    def api_versions(self) -> tuple[str, ...]:
        """Return every served "group/version", sorted."""

    def fresh(self) -> Discovery:
        """Return this, asked again if it remembers answers."""


def _unheard(_text: str) -> None:
    """Drop a warning that nobody reads."""


@dataclass(slots=True)
class Context:
    """The state of one kubectl invocation."""

    api: ApiClient
    clock: Clock
    files: Files
    discovery: Discovery
    namespace: str
    """The namespace of the current context, or of -n."""
    stdin: str = ""
    warn: Callable[[str], None] = _unheard
    """Prints a warning of kubectl's own, each text once; --warnings-as-errors does not count it."""
    user: str = "sre"
    cluster: str = "prod"
    server: str = "https://10.0.0.1:6443"
    is_namespace_explicit: bool = False
    kubeconfig: Kubeconfig | None = None
    """The kubeconfig, once `config set…` has changed it."""
    kubeconfig_path: str = "/root/.kube/config"
    launcher: Launcher | None = None
    """Starts editors; None where there is no shell."""
