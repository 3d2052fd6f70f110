"""In which form a client wants its answer: the Accept header, and what it makes of an answer.

Source: k8s.io/apiserver pkg/endpoints/handlers/negotiation and response.go; tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.rest.message import JSON, PROTOBUF, YAML

_ANY = ("*/*", "application/*")
_SERVED = (JSON, YAML, PROTOBUF)
_FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_VERSIONS = ("v1", "v1beta1")
_META = "meta.k8s.io"
_CLAUSES_MAX = 64


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer is written: its media type ("application/json" or "…/yaml"), and as what ("Table", …; "" as it is)."""

    media: str = JSON
    kind: str = ""
    version: str = "v1"

    @property
    def api_version(self) -> str:
        """The apiVersion of Tables and partial objects."""
        return f"{_META}/{self.version}"


PLAIN = Form()


@dataclass(frozen=True, slots=True)
class Clause:
    """One entry of an Accept header."""

    media: str
    parameters: tuple[tuple[str, str], ...]

    def parameter(self, name: str) -> str:
        """Return the value of a parameter, "" without one."""
        for key, value in self.parameters:
            if key == name:
                return value
        return ""


@lru_cache(maxsize=512)
def clauses(accept: str) -> tuple[Clause, ...]:
    """Return the entries of an Accept header, the most wanted first."""
    found: list[tuple[float, Clause]] = []
    for entry in accept.split(",")[:_CLAUSES_MAX]:
        head, *rest = entry.split(";")
        pairs = tuple(
            (key.strip(), value.strip()) for key, _, value in (part.partition("=") for part in rest)
        )
        found.append((_weight(dict(pairs).get("q", "1")), Clause(head.strip().lower(), pairs)))
    return tuple(clause for _, clause in sorted(found, key=lambda pair: -pair[0]))


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


@lru_cache(maxsize=512)
def form_of(accept: str, *, is_list: bool, is_watch: bool) -> Form | StatusError:
    """Return the form of an answer that a client accepts, or the refusal when there is none.

    Protobuf is never written: who accepts only that gets JSON, and is told so by the content type.
    """
    if not accept:
        return PLAIN
    entries = clauses(accept)
    if not any(_matches(clause.media) for clause in entries):
        streams = [f"{kind};stream=watch" for kind in (JSON, PROTOBUF)] if is_list else []
        return _refused(
            f"406: Not Acceptable\n\nAvailable representations: {', '.join([*_SERVED, *streams])}"
        )
    for clause in entries:
        if not _matches(clause.media):
            continue
        kind = clause.parameter("as")
        if is_watch and clause.media == YAML:
            continue
        if not kind:
            return _form(clause.media, entries)
        version = clause.parameter("v") or "v1"
        if kind in _FORMS and version in _VERSIONS and clause.parameter("g") in (_META, ""):
            return Form(YAML if clause.media == YAML else JSON, kind, version)
    if is_watch:
        return _refused(
            f"only the following media types are accepted: {JSON};stream=watch, {PROTOBUF};stream=watch"
        )
    return _refused(f"only the following media types are accepted: {', '.join(_SERVED)}")


def _matches(media: str) -> bool:
    return media in _SERVED or media in _ANY


def _form(media: str, entries: tuple[Clause, ...]) -> Form:
    if media == PROTOBUF:
        others = (clause.media for clause in entries if clause.media != PROTOBUF and not clause.parameters)
        media = next((other for other in others if other in (JSON, YAML)), JSON)
    return Form(YAML) if media == YAML else PLAIN


def _refused(text: str) -> StatusError:
    return StatusError(errors.status(406, "NotAcceptable", text))


def wants_aggregated_discovery(accept: str) -> bool:
    """Whether a client prefers one discovery document for all groups (apidiscovery.k8s.io/v2)."""
    for clause in clauses(accept) if accept else ():
        if clause.parameter("as") == "APIGroupDiscoveryList":
            if clause.parameter("g") == "apidiscovery.k8s.io" and clause.parameter("v") == "v2":
                return True
            continue
        if clause.media in (*_SERVED, *_ANY):
            return False
    return False
