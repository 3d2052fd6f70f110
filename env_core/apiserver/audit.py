"""The audit log: who did what, kept for the actors that are not parts of the cluster itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from env_core.apiserver.request import ApiRequest
from env_core.world import Object


class AuditRecord(NamedTuple):
    """One request as the audit log keeps it."""

    at_ms: int
    user: str
    verb: str
    resource: str
    namespace: str
    name: str
    subresource: str
    code: int
    annotations: tuple[tuple[str, str], ...] = ()
    is_dry_run: bool = False
    cut_off: tuple[Object, ...] = ()
    """Pods that it gave no time to end, as they were."""


class AuditLog:
    """Records of requests by users (identities that do not start with `system:`), newest last."""

    __slots__ = ("_is_shared", "_records")

    def __init__(self) -> None:
        self._records: list[AuditRecord] = []
        self._is_shared = False

    def add(
        self,
        at_ms: int,
        request: ApiRequest,
        code: int,
        annotations: Mapping[str, str] | None = None,
        cut_off: Sequence[Object] = (),
    ) -> None:
        """Append the record of a request, unless a component of the cluster sent it."""
        user = request.identity.name
        if user.startswith("system:"):
            return
        if self._is_shared:
            self._records = list(self._records)
            self._is_shared = False
        self._records.append(
            AuditRecord(
                at_ms,
                user,
                request.verb,
                request.resource,
                request.namespace,
                request.name,
                request.subresource,
                code,
                tuple(sorted(annotations.items())) if annotations else (),
                request.options.dry_run,
                tuple(cut_off),
            )
        )

    def records(self) -> tuple[AuditRecord, ...]:
        """Return the records, oldest first."""
        return tuple(self._records)

    def fork(self) -> AuditLog:
        """Return a log that starts with the same records."""
        copy = AuditLog()
        copy._records = self._records
        copy._is_shared = self._is_shared = True
        return copy
