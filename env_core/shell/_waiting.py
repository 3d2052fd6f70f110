"""How a client that waits gets out of the way of a job's shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from env_core.shell._streams import Streams
from env_core.shell.context import Talk

if TYPE_CHECKING:
    from env_core.shell._steps import Script


class Waiting(Exception):
    """The command at a job's place waits, and will go on when its time has come."""

    rest: Script
    """The job's script after the command; set on the way."""

    def __init__(self, talk: Talk, name: str, streams: Streams) -> None:
        super().__init__(name)
        self.talk = talk
        self.name = name
        self.streams = streams
