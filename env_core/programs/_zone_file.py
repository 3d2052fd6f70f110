"""Zone files as CoreDNS's file plugin reads and answers them: the master format of RFC 1035, without wildcards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from env_core.programs._dns_names import full_name

_CLASSES: Final = frozenset({"IN", "CH", "HS"})
Record = tuple[str, str, str]


@dataclass(slots=True)
class ZoneFile:
    """The records of a zone."""

    origin: str
    records: list[Record] = field(default_factory=list)

    def _at(self, name: str, kind: str) -> tuple[Record, ...]:
        return tuple(each for each in self.records if each[0] == name and each[1] == kind)

    def lookup(
        self, name: str, kind: str
    ) -> tuple[str, tuple[Record, ...], tuple[Record, ...], tuple[Record, ...]]:
        """Return the code, answers, authority and additional records for a question.

        Source: github.com/coredns/coredns plugin/file/lookup.go.
        """
        found = self._at(name, kind)
        if not found and kind != "CNAME":
            aliases = self._at(name, "CNAME")
            if aliases:
                target = full_name(aliases[0][2])
                found = (*aliases, *self._at(target, kind))
        if found:
            targets = [full_name(each[2].split()[-1]) for each in found if each[1] in ("SRV", "MX")]
            glue = tuple(record for each in targets for record in self._at(each, "A"))
            return "NOERROR", found, self._at(self.origin, "NS"), glue
        exists = any(each[0] == name or each[0].endswith(f".{name}") for each in self.records)
        return "NOERROR" if exists else "NXDOMAIN", (), self._at(self.origin, "SOA"), ()


def read_zone(text: str, origin: str) -> ZoneFile:
    """Return the records of a zone file; lines without a known form are left out."""
    zone = ZoneFile(full_name(origin))
    base, last = zone.origin, zone.origin
    for is_continued, words in _lines(text):
        if words[0] == "$ORIGIN" and len(words) > 1:
            base = full_name(words[1])
        elif not words[0].startswith("$"):
            owner = last if is_continued else _absolute(words.pop(0), base)
            last = owner
            while words and (words[0].rstrip("smhdwSMHDW").isdigit() or words[0].upper() in _CLASSES):
                words.pop(0)
            if len(words) > 1:
                kind = words[0].upper()
                zone.records.append((owner, kind, " ".join(_data(kind, words[1:], base))))
    return zone


def _absolute(name: str, base: str) -> str:
    if name == "@":
        return base
    return name.lower() if name.endswith(".") else f"{name.lower()}.{base.lstrip('.')}"


def _data(kind: str, words: list[str], base: str) -> list[str]:
    names = {"NS": (0,), "CNAME": (0,), "PTR": (0,), "SRV": (3,), "MX": (1,), "SOA": (0, 1)}.get(kind, ())
    return [_absolute(word, base) if index in names else word for index, word in enumerate(words)]


def _lines(text: str) -> list[tuple[bool, list[str]]]:
    """Return the entries of a file, and whether each goes on with the owner of the one before."""
    found: list[tuple[bool, list[str]]] = []
    is_open = False
    for line in text.splitlines():
        bare = line.partition(";")[0]
        words = bare.replace("(", " ( ").replace(")", " ) ").split()
        kept = [word for word in words if word not in "()"]
        if is_open and found:
            found[-1][1].extend(kept)
        elif kept:
            found.append((bare[:1].isspace(), kept))
        for word in words:
            is_open = word == "(" or (is_open and word != ")")
    return found
