"""Which command lines the suite refuses before they run, beyond what no suite carries out.

Source: SEEDS TR-12 to TR-15.
"""

from __future__ import annotations

from env_core.rest.message import HttpRequest
from env_core.suites import _calls, _refusals
from env_core.suites._calls import Call
from env_core.suites._lines import Rules
from env_core.suites._pricing import is_mutating, verb_of
from env_core.suites._refusals import Refusal

_REPLICASETS = ("rs", "replicaset", "replicasets", "replicasets.apps", "replicaset.apps")
_NO_REPLICASET = "changing a ReplicaSet refused: change its owner instead"


def check_line(line: str) -> None:
    """Refuse a line that does not begin with kubectl or curl.

    Raises:
        Refusal: with the text that the agent reads.
    """
    first = line.split(None, 1)[0] if line.strip() else ""
    if not first:
        raise Refusal("empty command: send one line that begins with kubectl or curl")
    if first not in ("kubectl", "curl"):
        raise Refusal(
            f"{first!r}: the line must begin with kubectl or curl; pipes, ;, && and here-documents may follow"
        )


def check_command(argv: list[str]) -> None:
    """Refuse one simple command that is out of bounds.

    Raises:
        Refusal: with the text that the agent reads.
    """
    _refusals.check_command(argv)
    if argv[:1] == ["kubectl"] and is_mutating(argv) and verb_of(argv)[0] != "exec":
        own = argv[: argv.index("--")] if "--" in argv else argv
        if _names_replicaset(own):
            raise Refusal(_NO_REPLICASET)


def _names_replicaset(words: list[str]) -> bool:
    return any(
        part.split("/", 1)[0].lower() in _REPLICASETS
        for word in words[1:]
        if not word.startswith("-")
        for part in word.split(",")
    )


def check_call(request: HttpRequest) -> Call:
    """Return what the suite makes of a request to the API, with the refusal if it is out of bounds."""
    call = _calls.reviewed(request)
    if call.is_mutating and _calls.plural_of(request) == "replicasets.apps":
        return call._replace(refusal=_NO_REPLICASET)
    return call


RULES = Rules(check_line=check_line, check_command=check_command, check_call=check_call)
