"""A policy that plays a plan: a generator that yields command lines and sees what each of them led to."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from urllib.parse import urlsplit

from kubedrill.models import KubeObservation
from kubedrill.policies import _evidence
from kubedrill.policies._evidence import edges

SUBMIT = "submit"
_READ_HOSTS = (
    r"kubectl get ingresses -A -o jsonpath="
    r"""'{range .items[*]}{"host\t"}{.metadata.namespace}{"\t"}{.spec.rules[*].host}{"\n"}{end}'"""
)
READ_PLACES = f"{_evidence.READ_SPACES}; {_READ_HOSTS}; {_evidence.READ_EDGE}"
"""Prints the namespaces, whose hosts stand in ingresses of which, and where requests come in."""
_URL_OR_WORD = re.compile(r"https?://[^\s,;)\"']+|[a-z0-9][-a-z0-9]*")
_PAGE_CHARS = 15_000
"""As much as a terminal tool shows at once, with something to spare."""
_PAGES_MAX = 3

Reading = Generator[str, None, str]


class PlannedPolicy(ABC):
    """One episode's worth of a plan, then the submission."""

    name: str
    last: str | None = SUBMIT
    """What ends the episode; None where the environment ends it by itself."""

    def __init__(self) -> None:
        self._plan: Iterator[str] | None = None
        self._seen = KubeObservation()

    def act(self, observation: KubeObservation) -> str | None:
        """Return the next command; when the plan or the budget is at its end, the last one."""
        self._seen = observation
        if self._plan is None:
            self._plan = self._moves(observation)
        if self.last and observation.steps_max and observation.step_count >= observation.steps_max - 1:
            return self.last
        return next(self._plan, self.last)

    @abstractmethod
    def _moves(self, first: KubeObservation) -> Iterator[str]:
        """Yield the command lines, in order."""

    @property
    def _output(self) -> str:
        return self._seen.output if self._seen.exit_code == 0 else ""

    def _read(self, command: str) -> Reading:
        """Run a command and return all of its output, page by page where it is long."""
        pages: list[str] = []
        for number in range(_PAGES_MAX):
            start = f"tail -c +{number * _PAGE_CHARS + 1} | " if number else ""
            yield f"{command} | {start}head -c {_PAGE_CHARS}"
            pages.append(self._output)
            if len(self._output) < _PAGE_CHARS:
                break
        return "".join(pages)

    def _objects(self, namespace: str) -> Reading:
        """Read the objects of a namespace, as `Evidence` takes them."""
        wiring = yield from self._read(_evidence.read_objects(namespace, _evidence.WIRING))
        workloads = yield from self._read(_evidence.read_objects(namespace, _evidence.WORKING))
        return wiring + workloads


def addresses(first: KubeObservation) -> str:
    """Return the addresses that users ask for, as the page and the monitor name them."""
    return " ".join([first.incident_brief, *(level.url for level in first.service_levels or ())])


class Places:
    """Where things are: what the output of `READ_PLACES` says."""

    def __init__(self, output: str) -> None:
        lines = [line.split("\t") for line in output.splitlines() if line.count("\t") == 2]
        self.edges = edges(output)
        self._hosts = {host: line[1] for line in lines if line[0] == "host" for host in line[2].split()}
        self._names = [line[1] for line in lines if line[0] == "namespace"]

    def namespace_of(self, brief: str) -> str:
        """Return the namespace that a page is about: the first that it names, or that of the first host in it."""
        for word in (match.group() for match in _URL_OR_WORD.finditer(brief)):
            if word in self._names:
                return word
            host = (urlsplit(word).hostname or "") if "//" in word else ""
            if host in self._hosts:
                return self._hosts[host]
        return next(iter(self._hosts.values()), "default")
