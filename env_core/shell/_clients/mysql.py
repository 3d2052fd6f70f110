"""mysql, MariaDB's client: statements from its command line or its input, and what it prints of their answers.

Source: MariaDB/server client/mysql.cc; tests/golden/programs/mariadb.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from env_core.programs import _mariadb_wire as protocol
from env_core.programs._mariadb_splitting import Piece, Splitter
from env_core.shell._clients._mysql_connection import MARIADB, ORACLE, Answer, Error, Link, Texts
from env_core.shell._clients._mysql_options import Failed, Options, read
from env_core.shell._clients._mysql_output import boxed, tabbed, vertical
from env_core.shell._clients._printing import Printing
from env_core.shell._clients._wire import Wire
from env_core.shell.context import Process, ShellFileError, Talk, Talking
from env_core.world import Output

_READ_MS: Final = 10
"""After how long the client looks for more input, at the soonest."""
_READS: Final = 40
"""The longer nothing comes, the less often it looks: after a fortieth of the time so far."""
_SOURCES_MAX: Final = 8
"""How deep scripts may read other scripts."""
_RULE: Final = "--------------"


def talk(process: Process, argv: list[str], wire: Wire, texts: Texts = MARIADB) -> Talk:
    """Run mysql, which lets its caller wait: each value is so many milliseconds."""
    try:
        options = read(process, argv)
    except Failed as failed:
        return Output("", f"{failed.text}\n", failed.code)
    name = argv[0].rpartition("/")[2]
    if "version" in options.flags:
        return Output(f"{name}{texts.version}")
    if "help" in options.flags:
        return Output(f"{name}{texts.version}Usage: {name} [OPTIONS] [database]\n")
    client = _Client(process, wire, options, texts)
    if options.is_password_shown:
        client.warn(texts.warning.format(name=name))
    is_killed = True
    try:
        output = yield from client.run()
        is_killed = False
        return output
    finally:
        client.link.close(is_killed=is_killed)


def talk_oracle(process: Process, argv: list[str], wire: Wire) -> Talk:
    """Run mysql as Oracle's images have it."""
    return talk(process, argv, wire, ORACLE)


def run_oracle(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run Oracle's mysql to its end."""
    return Talking(lambda own, words: talk_oracle(own, words, wire))(process, argv)


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run mysql to its end."""
    return Talking(lambda own, words: talk(own, words, wire))(process, argv)


class _Input:
    """Where statements come from: the command line, or standard input."""

    def __init__(self, process: Process, options: Options) -> None:
        self._pipe = None if options.execute else process.pipe
        self._text = (
            "" if self._pipe is not None else "\n".join(options.execute) if options.execute else process.stdin
        )
        self._splitter = Splitter()

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._pipe is not None and self._pipe.is_open

    def taken(self) -> list[Piece]:
        """Return what is complete."""
        is_open = self.is_open
        text, self._text = self._text, ""
        if self._pipe is not None:
            text += self._pipe.take_all()
        return self._splitter.take(text, is_open=is_open)


class _Client:
    """One run."""

    def __init__(self, process: Process, wire: Wire, options: Options, texts: Texts) -> None:
        self._process = process
        self._options = options
        self._texts = texts
        self.link = Link(process, wire, options, texts)
        self._printed = Printing()
        self._is_over = False

    def run(self) -> Talk:
        """Do all that was asked."""
        options = self._options
        if options.asks_password:
            self._printed.err("Enter password: \n")
        try:
            self.link.open(options.database or (options.words[0] if options.words else ""))
        except Failed as failed:
            self._printed.err(f"{failed.text}\n")
            return self._printed.output(failed.code)
        source = _Input(self._process, options)
        heard_ms = self._process.now_ms()
        code = 0
        while not self._is_over:
            pieces = source.taken()
            if not pieces:
                if not source.is_open:
                    break
                yield max(_READ_MS, (self._process.now_ms() - heard_ms) // _READS)
                continue
            heard_ms = self._process.now_ms()
            for piece in pieces:
                is_good = yield from self._one(piece, 0)
                if not is_good and "force" not in options.flags:
                    code, self._is_over = 1, True
                if self._is_over:
                    break
        return self._printed.output(code)

    def warn(self, text: str) -> None:
        """Print something before all else."""
        if text:
            self._printed.err(text)

    def _one(self, piece: Piece, depth: int) -> Generator[int, None, bool]:
        """Do one statement, or one command; return whether it is good."""
        if piece.command:
            return (yield from self._own(piece, depth))
        answer = yield from self.link.ask(piece.text)
        if answer.error is not None:
            is_told = (
                self._texts.shows_statements
                and not answer.error.is_late
                and "skip-print-query-on-error" not in self._options.flags
            )
            self._failed(answer.error, piece, piece.text if is_told else "")
            return False
        if answer.has_rows:
            self._show(answer, is_vertical=piece.is_vertical)
        return True

    def _failed(self, error: Error, piece: Piece, statement: str) -> None:
        if statement:
            self._printed.err(f"{_RULE}\n{statement}\n{_RULE}\n\n")
        place = "" if "skip-line-numbers" in self._options.flags else f" at line {piece.line}"
        self._printed.err(f"ERROR {error.number} ({error.state}){place}: {error.text}\n")

    def _show(self, answer: Answer, *, is_vertical: bool) -> None:
        flags = self._options.flags
        has_names = "skip-column-names" not in flags
        if not answer.rows:
            # Without rows there is nothing to print.
            return
        if is_vertical or "vertical" in flags:
            self._printed.out(vertical(answer))
        elif "table" in flags or (self._process.has_terminal and not {"batch", "silent"}.intersection(flags)):
            self._printed.out(boxed(answer, has_names=has_names))
        else:
            self._printed.out(tabbed(answer, has_names=has_names, is_raw="raw" in flags))

    def _own(self, piece: Piece, depth: int) -> Generator[int, None, bool]:
        """Do a command of the client's own."""
        command = piece.command
        if command in ("quit", "exit"):
            self._is_over = True
        elif command == "use":
            name = piece.text.strip().rstrip(";").strip("`'\" ")
            if not name:
                self._printed.err("ERROR: USE must be followed by a database name\n")
                return False
            answer = yield from self.link.ask(name, protocol.USE)
            if answer.error is not None:
                self._failed(answer.error, piece, "")
                return False
        elif command == "source":
            return (yield from self._source(piece, depth))
        elif command == "system":
            self._printed.err("ERROR: the shell is not simulated\n")
            return False
        return True

    def _source(self, piece: Piece, depth: int) -> Generator[int, None, bool]:
        """Run another script."""
        name = piece.text.strip().rstrip(";").strip()
        try:
            text = self._process.fs.read(self._process.path(name))
        except ShellFileError as refused:
            self._printed.err(
                f"ERROR at line {piece.line}: Failed to open file '{name}', error: {2 if 'No such' in refused.reason else 13}\n"
            )
            return False
        if depth >= _SOURCES_MAX:
            self._printed.err("ERROR: scripts are too deep\n")
            return False
        for each in Splitter().take(text, is_open=False):
            is_good = yield from self._one(each, depth + 1)
            if not is_good and "force" not in self._options.flags:
                return False
            if self._is_over:
                break
        return True
