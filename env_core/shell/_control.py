"""Ways in which a command leaves the ordinary course: exit, return, break, give up."""

from __future__ import annotations


class Exit(Exception):
    """The shell ends with `status`."""

    def __init__(self, status: int) -> None:
        """Record the exit status."""
        super().__init__(status)
        self.status = status


class Return(Exception):
    """The function (or sourced file) ends with `status`."""

    def __init__(self, status: int) -> None:
        """Record the status."""
        super().__init__(status)
        self.status = status


class LoopControl(Exception):
    """`break` or `continue` of the `levels`-th enclosing loop."""

    def __init__(self, levels: int, *, is_break: bool) -> None:
        """Record how many loops to leave."""
        super().__init__(levels)
        self.levels = levels
        self.is_break = is_break


class Refused(Exception):
    """A command of the shell itself failed; `is_fatal` says that the shell gives up."""

    def __init__(self, text: str, status: int = 2, *, is_fatal: bool = True, command: str = "") -> None:
        """Record the text (without the shell's name), the status and the built-in."""
        super().__init__(text)
        self.text = text
        self.status = status
        self.is_fatal = is_fatal
        self.command = command
