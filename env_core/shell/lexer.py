"""Words and operators of a shell line, read one at a time as the grammar asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from env_core.shell.syntax import (
    Arithmetic,
    HereDocument,
    Parameter,
    Part,
    Sequence,
    Substitution,
    SyntaxProblem,
    Text,
    Word,
)

NESTING_MAX: Final = 40
"""How deep substitutions and compound commands may nest."""

_OPERATORS: Final = ("&>>", "<<-", "<<<", "&&", "||", ";;", "&>", ">>", "<<", ">&", "<&", ">|", "<>")
_SINGLE: Final = frozenset(";&|<>()")
_META: Final = frozenset(" \t\n;&|<>()")
_NAME_START: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAME: Final = _NAME_START | frozenset("0123456789")
_SPECIAL: Final = frozenset("@*#?-$!0123456789")
_ANSI_ESCAPES: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is "word", "newline", "eof", "redirection" or the operator itself."""

    kind: str
    line: int
    word: Word | None = None
    descriptor: int = -1
    operator: str = ""


class Lexer:
    """Reads tokens from `source`; `substitution` parses the body of `$(` and must stop at its `)`."""

    def __init__(
        self, source: str, substitution: Callable[[Lexer], Sequence], line: int = 1, depth: int = 0
    ) -> None:
        """Start at the beginning of `source`, whose first line has the number `line`."""
        self.source = source
        self.position = 0
        self.line = line
        self.depth = depth
        self._parse_substitution = substitution
        self._pending: list[HereDocument] = []

    def problem(self, text: str, found: str = "", expected: str = "") -> SyntaxProblem:
        """Return a syntax error at the present line."""
        return SyntaxProblem(text, self.line, found, expected)

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
        inner = Lexer(text, self._parse_substitution, self.line, self.depth + 1)
        inner._check_depth()
        return Word(tuple(inner._double_quoted(terminator="")), text)

    def _check_depth(self) -> None:
        if self.depth > NESTING_MAX:
            raise self.problem("nesting too deep")

    def read_word(self, stops: frozenset[str] = _META) -> Word:
        """Read a word up to an unquoted character of `stops`."""
        source = self.source
        start = self.position
        parts: list[Part] = []
        plain: list[str] = []

        def flush() -> None:
            if plain:
                parts.append(Text("".join(plain), quoted=False))
                plain.clear()

        while self.position < len(source):
            char = source[self.position]
            if char in stops:
                break
            if char == "\\":
                following = source[self.position + 1 : self.position + 2]
                self.position += 2
                if following == "\n":
                    self.line += 1
                elif following:
                    flush()
                    parts.append(Text(following, quoted=True))
                else:
                    self.position = len(source)
                    plain.append("\\")
            elif char == "'":
                flush()
                self.position += 1
                parts.append(Text(self._until_quote(), quoted=True))
            elif char == '"':
                flush()
                self.position += 1
                inner = self._double_quoted(terminator='"')
                parts.extend(inner or [Text("", quoted=True)])
            elif char in "$`":
                part = self._dollar(quoted=False)
                if isinstance(part, str):
                    plain.append(part)
                else:
                    flush()
                    parts.append(part)
            else:
                end = self.position + 1
                while end < len(source) and source[end] not in stops and source[end] not in "\\'\"$`":
                    end += 1
                self.line += source.count("\n", self.position, end)
                plain.append(source[self.position : end])
                self.position = end
        flush()
        return Word(tuple(parts), source[start : self.position])

    def _until_quote(self) -> str:
        end = self.source.find("'", self.position)
        if end == -1:
            raise self.problem("Unterminated quoted string")
        text = self.source[self.position : end]
        self.line += text.count("\n")
        self.position = end + 1
        return text

    def _double_quoted(self, terminator: str) -> list[Part]:
        """Read up to `terminator` ("" = the end of the source); everything in the result is quoted."""
        source = self.source
        parts: list[Part] = []
        plain: list[str] = []
        escapable = '$`\\"\n' if terminator else "$`\\\n"
        while True:
            if self.position >= len(source):
                if terminator:
                    raise self.problem("Unterminated quoted string")
                break
            char = source[self.position]
            if char == terminator:
                self.position += 1
                break
            if char == "\\" and source[self.position + 1 : self.position + 2] in list(escapable):
                following = source[self.position + 1]
                self.position += 2
                if following == "\n":
                    self.line += 1
                else:
                    plain.append(following)
            elif char in "$`":
                part = self._dollar(quoted=True)
                if isinstance(part, str):
                    plain.append(part)
                else:
                    if plain:
                        parts.append(Text("".join(plain), quoted=True))
                        plain.clear()
                    parts.append(part)
            else:
                self.line += char == "\n"
                plain.append(char)
                self.position += 1
        if plain:
            parts.append(Text("".join(plain), quoted=True))
        return parts

    def _dollar(self, *, quoted: bool) -> Part | str:
        """Read an expansion; a lone `$` comes back as text."""
        source = self.source
        if source[self.position] == "`":
            return self._backquoted(quoted=quoted)
        following = source[self.position + 1 : self.position + 2]
        if following == "(":
            if source.startswith("((", self.position + 1):
                arithmetic = self._arithmetic(quoted=quoted)
                if arithmetic is not None:
                    return arithmetic
            self.position += 2
            return Substitution(self._substitution(), quoted)
        if following == "{":
            self.position += 2
            return self._braced(quoted=quoted)
        if following == "'" and not quoted:
            self.position += 2
            return Text(self._ansi_quoted(), quoted=True)
        if following in _SPECIAL and following:
            self.position += 2
            return Parameter(following, "", None, quoted)
        end = self.position + 1
        if following in _NAME_START and following:
            while end < len(source) and source[end] in _NAME:
                end += 1
            name = source[self.position + 1 : end]
            self.position = end
            return Parameter(name, "", None, quoted)
        self.position += 1
        return "$"

    def _substitution(self) -> Sequence:
        self.depth += 1
        self._check_depth()
        body = self._parse_substitution(self)
        self.depth -= 1
        return body

    def _backquoted(self, *, quoted: bool) -> Part:
        source = self.source
        self.position += 1
        inner: list[str] = []
        while True:
            if self.position >= len(source):
                raise self.problem("EOF in backquote substitution")
            char = source[self.position]
            if char == "`":
                self.position += 1
                break
            following = source[self.position + 1 : self.position + 2]
            if char == "\\" and following and following in ('$`\\"' if quoted else "$`\\"):
                char = following
                self.position += 1
            self.line += char == "\n"
            inner.append(char)
            self.position += 1
        lexer = Lexer("".join(inner), self._parse_substitution, self.line, self.depth + 1)
        lexer._check_depth()
        lexer.source += "\n)"
        return Substitution(self._parse_substitution(lexer), quoted)

    def _arithmetic(self, *, quoted: bool) -> Arithmetic | None:
        """Read `$((…))`, or return None when it turns out to be a subshell in a substitution."""
        source = self.source
        depth, end = 0, self.position + 3
        while end < len(source):
            char = source[end]
            if char == "(":
                depth += 1
            elif char == ")":
                if depth == 0:
                    break
                depth -= 1
            elif char == "\\":
                end += 1
            end += 1
        if not source.startswith("))", end):
            return None
        text = source[self.position + 3 : end]
        inner = Lexer(text, self._parse_substitution, self.line, self.depth + 1)
        inner._check_depth()
        parts = inner._double_quoted(terminator="")
        self.line += text.count("\n")
        self.position = end + 2
        return Arithmetic(Word(tuple(parts), text), quoted)

    def _braced(self, *, quoted: bool) -> Part:
        """Read the rest of `${…}`."""
        source, start = self.source, self.position
        is_length = source[start : start + 1] == "#" and source[start + 1 : start + 2] not in ("}", "")
        if is_length:
            self.position += 1
        end = self.position
        if source[end : end + 1] in _SPECIAL and source[end : end + 1]:
            end += 1
            while source[end - 1].isdecimal() and source[end : end + 1].isdecimal():
                end += 1
        else:
            while end < len(source) and source[end] in _NAME:
                end += 1
        name = source[self.position : end]
        self.position = end
        if source[end : end + 1] == "}" and name:
            self.position += 1
            return Parameter(name, "", None, quoted, is_length)
        operator = self._parameter_operator()
        if not name or is_length or not operator:
            self._skip_braces()
            return Parameter(name, "bad", None, quoted)
        self.depth += 1
        self._check_depth()
        argument = self._braced_argument(quoted=quoted and operator[0] not in "#%")
        self.depth -= 1
        return Parameter(name, operator, argument, quoted)

    def _parameter_operator(self) -> str:
        for operator in (":-", ":=", ":?", ":+", "##", "%%", "-", "=", "?", "+", "#", "%"):
            if self.source.startswith(operator, self.position):
                self.position += len(operator)
                return operator
        return ""

    def _braced_argument(self, *, quoted: bool) -> Word:
        start = self.position
        if not quoted:
            word = self.read_word(frozenset("}"))
        else:
            word = Word(tuple(self._quoted_argument()), "")
        if self.position >= len(self.source):
            raise self.problem("Missing '}'")
        raw = self.source[start : self.position]
        self.position += 1
        return Word(word.parts, raw)

    def _quoted_argument(self) -> list[Part]:
        """Read the argument of an expansion between double quotes, up to its brace."""
        parts: list[Part] = []
        source = self.source
        while self.position < len(source) and source[self.position] != "}":
            char = source[self.position]
            if char == '"':
                self.position += 1
                parts.extend(self._double_quoted(terminator='"'))
            elif char in "$`":
                part = self._dollar(quoted=True)
                parts.append(Text(part, quoted=True) if isinstance(part, str) else part)
            else:
                following = source[self.position + 1 : self.position + 2]
                if char == "\\" and following and following in '$`"\\}':
                    char = following
                    self.position += 1
                self.line += char == "\n"
                self.position += 1
                parts.append(Text(char, quoted=True))
        return parts

    def _skip_braces(self) -> None:
        end = self.source.find("}", self.position)
        if end == -1:
            raise self.problem("Missing '}'")
        self.position = end + 1

    def _ansi_quoted(self) -> str:
        source = self.source
        out: list[str] = []
        while True:
            if self.position >= len(source):
                raise self.problem("Unterminated quoted string")
            char = source[self.position]
            self.position += 1
            if char == "'":
                return "".join(out)
            following = source[self.position : self.position + 1]
            if char == "\\" and following in _ANSI_ESCAPES and following:
                char = _ANSI_ESCAPES[following]
                self.position += 1
            self.line += char == "\n"
            out.append(char)
