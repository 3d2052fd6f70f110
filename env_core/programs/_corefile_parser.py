"""The grammar of Corefiles: words, imports, snippets, and the directives of each server block.

Source: github.com/coredns/caddy, packages caddyfile (lexer.go, parse.go, dispenser.go); tests/golden/promql/coredns,
tests/golden/programs/coredns.
"""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_IMPORTS_MAX: Final = 10_000
_REFERENCES: Final = (("{%", "%}"), ("{$", "}"))


class CorefileProblem(Exception):
    """CoreDNS refuses its Corefile; `text` is its own message."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a Corefile and where it starts."""

    text: str
    line: int
    file: str

    @property
    def last_line(self) -> int:
        """The line on which it ends: quoted words may hold several."""
        return self.line + self.text.count("\n")


def tokens_of(text: str, file: str) -> list[Token]:
    """Return the words of a text. Quotes group only at a word's start; an unclosed one takes the rest."""
    found: list[Token] = []
    line = 1
    position = 0
    text = text.removeprefix("\ufeff")
    while position < len(text):
        character = text[position]
        if character == "\n":
            line += 1
            position += 1
        elif character.isspace():
            position += 1
        elif character == "#":
            end = text.find("\n", position)
            position = len(text) if end == -1 else end
        elif character == '"':
            word, position = _quoted(text, position + 1)
            # A file that ends inside quotes yields what came, when anything did.
            if word or position <= len(text):
                found.append(Token(word, line, file))
            line += word.count("\n")
        else:
            word, position = _bare(text, position)
            found.append(Token(word, line, file))
    return found


def _quoted(text: str, position: int) -> tuple[str, int]:
    out: list[str] = []
    while position < len(text):
        character = text[position]
        if character == '"':
            return "".join(out), position + 1
        if character == "\\" and position + 1 < len(text):
            following = text[position + 1]
            out.append(following if following == '"' else "\\" + following)
            position += 2
            continue
        out.append(character)
        position += 1
    return "".join(out), len(text) + 1


def _bare(text: str, position: int) -> tuple[str, int]:
    out: list[str] = []
    while position < len(text) and not (text[position].isspace() and text[position] != "\r"):
        if text[position] == "#":
            break
        if text[position] != "\r":
            out.append(text[position])
        position += 1
    return "".join(out), position


def expanded(text: str, env: Mapping[str, str]) -> str:
    """Return a word with `{$NAME}` and `{%NAME%}` replaced by what the environment holds."""
    for start, stop in _REFERENCES:
        index = text.find(start)
        while index != -1:
            end = text.find(stop, index)
            if end <= index + len(start) - 1 or end == index + len(start):
                break
            reference = text[index : end + len(stop)]
            text = text.replace(reference, env.get(reference[len(start) : -len(stop)], ""))
            index = text.find(start)
    return text


class Cursor:
    """Walks over words as the setup functions of plugins do."""

    def __init__(self, tokens: list[Token], file: str) -> None:
        self.tokens = tokens
        self.file = file
        self.at = -1
        self._depth = 0

    @property
    def value(self) -> str:
        """The word under the cursor."""
        return self.tokens[self.at].text if 0 <= self.at < len(self.tokens) else ""

    def next(self) -> bool:
        """Go to the next word; False when there is none."""
        if self.at < len(self.tokens) - 1:
            self.at += 1
            return True
        return False

    def next_on_line(self) -> bool:
        """Go to the next word if it stands on the same line."""
        if self.at < 0:
            self.at += 1
            return True
        if self.at < len(self.tokens) - 1 and not self._breaks(self.at):
            self.at += 1
            return True
        return False

    def _breaks(self, index: int) -> bool:
        here, there = self.tokens[index], self.tokens[index + 1]
        return here.file != there.file or here.last_line < there.line

    @property
    def is_first_of_line(self) -> bool:
        """Whether the word under the cursor starts a line."""
        if self.at < 1:
            return True
        return self.at < len(self.tokens) and self._breaks(self.at - 1)

    def rest_of_line(self) -> list[str]:
        """Return the words that follow on the line, up to an opening brace."""
        found: list[str] = []
        while self.next_on_line():
            if self.value == "{":
                self.at -= 1
                break
            found.append(self.value)
        return found

    def next_in_block(self) -> bool:
        """Go to the next property of the block that opens on this line; False at its end."""
        if self._depth:
            if not self.next():
                return False
            if self.value == "}":
                self._depth -= 1
                return False
            return True
        if not self.next_on_line():
            return False
        if self.value != "{":
            self.at -= 1
            return False
        if not self.next() or self.value == "}":
            return False
        self._depth += 1
        return True

    def problem(self, text: str) -> CorefileProblem:
        """Return a complaint about the place of the cursor."""
        return CorefileProblem(f"{self._place()} - Error during parsing: {text}")

    def wrong_count(self) -> CorefileProblem:
        """Return the complaint about too few or too many words."""
        if self.value == "{":
            return self.problem("Unexpected token '{', expecting argument")
        return self.problem(f"Wrong argument count or unexpected line ending after '{self.value}'")

    def unexpected(self, expected: str) -> CorefileProblem:
        """Return the complaint about another word than the expected one."""
        return CorefileProblem(
            f"{self._place()} - Syntax error: Unexpected token '{self.value}', expecting '{expected}'"
        )

    def _place(self) -> str:
        if 0 <= self.at < len(self.tokens):
            return f"{self.tokens[self.at].file}:{self.tokens[self.at].line}"
        return f"{self.file}:0"


@dataclass(slots=True)
class ServerBlock:
    """The keys of a server block, and the words of each directive in it, all its occurrences in one list."""

    keys: list[str]
    directives: dict[str, list[Token]] = field(default_factory=dict)


@dataclass(slots=True)
class _Parser:
    cursor: Cursor
    files: Mapping[str, str]
    env: Mapping[str, str]
    valid: frozenset[str]
    warnings: list[str] = field(default_factory=list)
    snippets: dict[str, list[Token]] = field(default_factory=dict)
    imports: int = 0

    def blocks(self) -> list[ServerBlock]:
        found: list[ServerBlock] = []
        while self.cursor.next():
            block = ServerBlock(keys=[])
            self._block(block)
            if block.keys:
                found.append(block)
        return found

    def _block(self, block: ServerBlock) -> None:
        if self._keys(block):
            return
        keys = block.keys
        if len(keys) == 1 and keys[0].startswith("(") and keys[0].endswith(")"):
            self._snippet(keys[0][1:-1])
            block.keys = []
            return
        has_brace = self.cursor.value == "{"
        if not has_brace:
            self.cursor.at -= 1
        self._directives(block)
        if has_brace and self.cursor.value != "}":
            raise self.cursor.unexpected("}")

    def _keys(self, block: ServerBlock) -> bool:
        """Read the keys of a block; return whether the file ends with them."""
        wants_more = False
        cursor = self.cursor
        while True:
            word = expanded(cursor.value, self.env)
            if word == "import" and cursor.is_first_of_line:
                self._import()
                if not cursor.next():
                    return True
                continue
            if word == "{":
                if wants_more:
                    raise cursor.problem(f"Expected another address but had '{word}' - check for extra comma")
                return False
            if word:
                wants_more = word.endswith(",")
                block.keys.append(word.removesuffix(","))
            has_next = cursor.next()
            if not has_next:
                if wants_more:
                    raise cursor.problem("Unexpected EOF")
                return True
            if not wants_more and cursor.is_first_of_line:
                return False

    def _snippet(self, name: str) -> None:
        cursor = self.cursor
        if name in self.snippets:
            raise cursor.problem(f"redeclaration of previously declared snippet {name}")
        if cursor.value != "{":
            raise cursor.unexpected("{")
        depth = 1
        tokens: list[Token] = []
        while cursor.next():
            depth += {"{": 1, "}": -1}.get(cursor.value, 0)
            if not depth:
                break
            tokens.append(cursor.tokens[cursor.at])
        if depth:
            raise cursor.unexpected("}")
        self.snippets[name] = tokens

    def _directives(self, block: ServerBlock) -> None:
        cursor = self.cursor
        while cursor.next():
            if cursor.value == "}":
                return
            if cursor.value == "import":
                self._import()
                continue
            self._directive(block)

    def _directive(self, block: ServerBlock) -> None:
        cursor = self.cursor
        name = expanded(cursor.value, self.env)
        if name not in self.valid:
            raise cursor.problem(f"Unknown directive '{name}'")
        found = block.directives.setdefault(name, [])
        found.append(cursor.tokens[cursor.at])
        depth = 0
        while cursor.next():
            value = cursor.value
            if value == "{":
                depth += 1
            elif cursor.is_first_of_line and not depth:
                cursor.at -= 1
                break
            elif value == "}" and depth:
                depth -= 1
            elif value == "}":
                raise cursor.problem("Unexpected '}' because no matching opening brace")
            elif value == "import" and cursor.is_first_of_line:
                self._import()
                continue
            token = cursor.tokens[cursor.at]
            found.append(Token(expanded(token.text, self.env), token.line, token.file))
        if depth:
            raise cursor.problem("Unexpected EOF")

    def _import(self) -> None:
        """Put what an import names in its place; the cursor stands before it then."""
        cursor = self.cursor
        start = cursor.at
        if not cursor.next_on_line():
            raise cursor.wrong_count()
        pattern = expanded(cursor.value, self.env)
        if not pattern:
            raise cursor.problem("Import requires a non-empty filepath")
        if cursor.next_on_line():
            raise cursor.problem("Import takes only one argument (glob pattern or file)")
        self.imports += 1
        if self.imports > _IMPORTS_MAX:
            raise cursor.problem(f"maximum snippet import depth ({_IMPORTS_MAX}) exceeded")
        imported = self.snippets.get(pattern)
        cursor.tokens[start : start + 2] = self._imported(pattern) if imported is None else imported
        cursor.at = start - 1

    def _imported(self, pattern: str) -> list[Token]:
        cursor = self.cursor
        base = posixpath.dirname(cursor.tokens[cursor.at].file)
        path = posixpath.normpath(posixpath.join(base, pattern))
        if path.count("*") > 1 or path.count("?") > 1 or ("[" in path and "]" in path):
            raise cursor.problem(f"Glob pattern may only contain one wildcard (*), but has others: {path}")
        is_glob = any(mark in path for mark in "*?[]")
        names = sorted(
            each
            for each in self.files
            if each == path
            or (is_glob and each.count("/") == path.count("/") and fnmatch.fnmatchcase(each, path))
        )
        if not names:
            if not is_glob:
                raise cursor.problem(f"File to import not found: {pattern}")
            self.warnings.append(f"[WARNING] No files matching import glob pattern: {pattern}")
        return [token for name in names for token in tokens_of(self.files[name], name)]


def blocks_of(
    path: str, text: str, files: Mapping[str, str], env: Mapping[str, str], valid: frozenset[str]
) -> tuple[list[ServerBlock], list[str]]:
    """Return the server blocks of a Corefile and the warnings that its imports caused.

    Raises:
        CorefileProblem: if the text is not one that CoreDNS understands.
    """
    parser = _Parser(Cursor(tokens_of(text, path), path), files, env, valid)
    return parser.blocks(), parser.warnings
