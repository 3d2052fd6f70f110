"""Words and operators of a shell line, read one at a time as the grammar asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from env_core.shell._words import Parse, WordReader
from env_core.shell.syntax import HereDocument, Text, Word

_OPERATORS: Final = ("&>>", "<<-", "<<<", "&&", "||", ";;", "&>", ">>", "<<", ">&", "<&", ">|", "<>")
_SINGLE: Final = frozenset(";&|<>()")


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is "word", "newline", "eof", "redirection" or the operator itself."""

    kind: str
    line: int
    word: Word | None = None
    descriptor: int = -1
    operator: str = ""


class Lexer(WordReader):
    """Reads tokens: words, operators, here-documents."""

    def __init__(self, source: str, substitution: Parse, line: int = 1, depth: int = 0) -> None:
        """Start at the beginning of `source`, whose first line has the number `line`."""
        super().__init__(source, substitution, line, depth)
        self._pending: list[HereDocument] = []

    def next_token(self) -> Token:
        """Read one token.

        Raises:
            SyntaxProblem: for an unterminated quote or substitution.
        """
        self._skip_blanks()
        source, start = self.source, self.position
        if start >= len(source):
            return Token("eof", self.line)
        char = source[start]
        if char == "\n":
            self.position += 1
            token = Token("newline", self.line)
            self.line += 1
            self._read_here_documents()
            return token
        if char in _SINGLE:
            return self._operator()
        line = self.line
        word = self.read_word()
        following = source[self.position : self.position + 1]
        if following and following in "<>" and word.raw.isdecimal() and len(word.raw) <= 2:
            token = self._operator()
            return Token("redirection", line, descriptor=int(word.raw), operator=token.operator)
        return Token("word", line, word)

    def _skip_blanks(self) -> None:
        source = self.source
        while self.position < len(source):
            char = source[self.position]
            if char in " \t":
                self.position += 1
            elif char == "\\" and source[self.position + 1 : self.position + 2] == "\n":
                self.position += 2
                self.line += 1
            elif char == "#":
                end = source.find("\n", self.position)
                self.position = len(source) if end == -1 else end
            else:
                return

    def _operator(self) -> Token:
        for operator in _OPERATORS:
            if self.source.startswith(operator, self.position):
                break
        else:
            operator = self.source[self.position]
        self.position += len(operator)
        if operator[0] in "<>" or operator in ("&>", "&>>"):
            return Token("redirection", self.line, descriptor=-1, operator=operator)
        return Token(operator, self.line)

    def here_document(self, delimiter: Word, *, strips_tabs: bool) -> HereDocument:
        """Note that the text up to `delimiter` follows after this line."""
        quoted = any(char in delimiter.raw for char in "'\"\\")
        document = HereDocument(delimiter.literal or delimiter.raw, quoted, strips_tabs)
        self._pending.append(document)
        return document

    def _read_here_documents(self) -> None:
        pending, self._pending = self._pending, []
        for document in pending:
            lines: list[str] = []
            while self.position < len(self.source):
                end = self.source.find("\n", self.position)
                end = len(self.source) if end == -1 else end
                line = self.source[self.position : end]
                self.position = min(end + 1, len(self.source))
                self.line += 1
                if document.strips_tabs:
                    line = line.lstrip("\t")
                if line == document.delimiter:
                    break
                lines.append(line + "\n")
            text = "".join(lines)
            if document.is_quoted:
                document.text = Word((Text(text, quoted=True),), text)
            else:
                document.text = self._expandable(text)

    def finish_here_documents(self) -> None:
        """Give here-documents that never began their (empty) text."""
        self._read_here_documents()

    def _expandable(self, text: str) -> Word:
        """Return a here-document's text with its expansions, as between double quotes but with `"` literal."""
        inner = type(self)(text, self.parse_substitution, self.line, self.depth + 1)
        inner.check_depth()
        return Word(tuple(inner.double_quoted(terminator="")), text)
