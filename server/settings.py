"""Environment variables, read once into one frozen value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PORT_DEFAULT: Final = 8000
PORTS_OF_THE_IMAGE: Final = (8000, 7860)
"""OpenEnv's container providers map 8000, Spaces expect 7860. Source: SEEDS GN-07."""
BACKENDS: Final = ("sim", "controlplane", "kubeconfig")

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class SettingError(ValueError):
    """Raised at start for a variable whose value makes no sense; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How this server runs."""

    host: str = "127.0.0.1"
    port: int | None = None
    """The one port to listen on; None for the default of the host."""
    backend: str = "sim"
    mode: str = "simulation"
    """"production" leaves out `/reset`, `/step` and `/state`, as the stock server does."""
    token: str = ""
    """The bearer token that every path but `/health` asks for; empty for none."""
    episodes_max: int = 512
    episodes_per_peer_max: int = 0
    """Episodes that one address may hold; 0 for no such bound."""
    memory_mb_max: int = 0
    """Resident memory above which no new episode is admitted; 0 for no such bound."""
    idle_s_max: float = 3_600.0
    """An episode without a request for this long ends."""
    grace_s: float = 120.0
    """At capacity, an episode that nobody is connected to may be ended once it has been idle for this long."""
    step_s_max: float = 20.0
    """Wall time after which a step is given up; 0 for no deadline."""
    body_bytes_max: int = 1_048_576
    log: str = "errors"
    """"steps" writes a JSON line for every reset and step, with the episode's digest; it costs throughput."""
    journal: str = ""
    """The file that keeps every action; empty for none."""
    journal_synchronous: str = "NORMAL"
    """SQLite's synchronous mode. Both survive a killed process; only FULL survives a power cut in every case."""

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports to listen on: the chosen one, or 8000, joined by 7860 when the host is not loopback."""
        if self.port is not None:
            return (self.port,)
        return (PORT_DEFAULT,) if self.host in _LOOPBACK else PORTS_OF_THE_IMAGE

    @classmethod
    def from_environment(cls, given: Mapping[str, str] | None = None) -> Settings:
        """Read the variables.

        Raises:
            SettingError: for a value that is not what its variable takes.
        """
        usual = cls()
        source = _Source(os.environ if given is None else given)
        return cls(
            host=source.text("HOST", usual.host),
            port=source.whole("PORT", 1, 65_535),
            backend=source.choice("KUBEDRILL_BACKEND", BACKENDS),
            mode=source.choice("OPENENV_MODE", ("simulation", "production")),
            token=source.text("KUBEDRILL_TOKEN", ""),
            episodes_max=source.whole("MAX_CONCURRENT_ENVS", 1, 1_000_000) or usual.episodes_max,
            episodes_per_peer_max=source.whole("KUBEDRILL_EPISODES_PER_PEER", 0, 1_000_000) or 0,
            memory_mb_max=source.whole("KUBEDRILL_MEMORY_MB", 0, 10_000_000) or 0,
            idle_s_max=source.seconds("KUBEDRILL_IDLE_S", usual.idle_s_max),
            grace_s=source.seconds("KUBEDRILL_GRACE_S", usual.grace_s),
            step_s_max=source.seconds("KUBEDRILL_STEP_S", usual.step_s_max),
            body_bytes_max=source.whole("KUBEDRILL_BODY_BYTES", 1_024, 1_000_000_000) or usual.body_bytes_max,
            log=source.choice("KUBEDRILL_LOG", ("errors", "steps")),
            journal=source.text("KUBEDRILL_JOURNAL", ""),
            journal_synchronous=source.choice("KUBEDRILL_JOURNAL_SYNCHRONOUS", ("NORMAL", "OFF", "FULL")),
        )


class _Source:
    """Reads one variable at a time; an empty one counts as absent."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def text(self, name: str, default: str) -> str:
        return self._given.get(name, "").strip() or default

    def whole(self, name: str, low: int, high: int) -> int | None:
        text = self.text(name, "")
        if not text:
            return None
        if not text.isdecimal() or not low <= int(text) <= high:
            raise SettingError(f"{name} must be an integer from {low} to {high}, got {text!r}")
        return int(text)

    def seconds(self, name: str, default: float) -> float:
        text = self.text(name, "")
        try:
            value = float(text) if text else default
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            raise SettingError(f"{name} must be a number of seconds, got {text!r}")
        return value

    def choice(self, name: str, valid: tuple[str, ...]) -> str:
        """Return the variable's value; the first of the valid ones is the default."""
        text = self.text(name, valid[0])
        for word in valid:
            if text.lower() == word.lower():
                return word
        raise SettingError(f"{name} must be one of {', '.join(valid)}, got {text!r}")
