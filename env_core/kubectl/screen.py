"""What a command has printed so far, and the mistakes that end it."""

from __future__ import annotations

from env_core.world import Output


class Screen:
    """Standard output and standard error of one command, in the order of writing."""

    __slots__ = ("err_parts", "out_parts", "warned")

    def __init__(self) -> None:
        self.out_parts: list[str] = []
        self.err_parts: list[str] = []
        self.warned: dict[str, None] = {}

    def out(self, text: str) -> None:
        """Write to standard output; the caller ends its lines."""
        self.out_parts.append(text)

    def err(self, text: str) -> None:
        """Write to standard error; the caller ends its lines."""
        self.err_parts.append(text)

    def warn(self, text: str) -> None:
        """Print a warning header of the server, each text once."""
        if text not in self.warned:
            self.warned[text] = None
            self.remark(text)

    def remark(self, text: str) -> None:
        """Print a warning of kubectl's own, once, which --warnings-as-errors does not count."""
        line = f"Warning: {text}\n"
        if line not in self.err_parts:
            self.err_parts.append(line)

    @property
    def has_output(self) -> bool:
        """Whether anything went to standard output."""
        return any(self.out_parts)

    def done(self, exit_code: int = 0) -> Output:
        """Return everything as the command's output."""
        return Output("".join(self.out_parts), "".join(self.err_parts), exit_code)


class Failure(Exception):
    """An error of kubectl itself; printed after `error: ` unless it has that already.

    `is_bare` leaves the prefix out (errors that checkErr words by itself). An empty text prints nothing.
    """

    def __init__(self, text: str, exit_code: int = 1, *, is_bare: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code
        self.is_bare = is_bare


class Failures(Exception):
    """Several errors, printed one a line without the prefix `error: `.

    Source: k8s.io/kubectl pkg/cmd/util checkErr, MultipleErrors.
    """

    def __init__(self, errors: list[Exception]) -> None:
        super().__init__(f"{len(errors)} errors")
        self.errors = errors


def raise_all(errors: list[Exception]) -> None:
    """Raise nothing, the only error, or all of them together."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise Failures(errors)


def usage_failure(path: str, text: str) -> Failure:
    """Return the error of a command line that does not make sense (cmdutil.UsageErrorf)."""
    return Failure(f"{text}\nSee '{path} -h' for help and examples")
