"""Splits an expression into tokens, and complains about what is none the way ANTLR's lexer does.

Source: the lexical grammar of github.com/google/cel-go v0.29 parser/gen/CEL.g4; ANTLR 4's lexer for what a complaint
quotes: the longest beginning of a token, and the character that ends it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from env_core.cel._source import Issues

EOF: Final = -1
NAMES: Final = (
    "", "'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'", "'&&'", "'||'", "'['", "']'", "'{'", "'}'", "'('", "')'",
    "'.'", "','", "'-'", "'!'", "'?'", "':'", "'+'", "'*'", "'/'", "'%'", "'true'", "'false'", "'null'",
    "WHITESPACE", "COMMENT", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER", "ESC_IDENTIFIER",
)  # fmt: skip
"""What complaints call a token type, by its number."""

HIDDEN: Final = frozenset({29, 30})
NUM_FLOAT: Final = 31
NUM_INT: Final = 32
NUM_UINT: Final = 33
STRING: Final = 34
BYTES: Final = 35
IDENTIFIER: Final = 36
ESC_IDENTIFIER: Final = 37

KIND: Final = {name.strip("'"): number for number, name in enumerate(NAMES) if name.startswith("'")}
"""Token types by their text."""

_ESCAPE: Final = r"""\\(?:[abfnrtv"'\\?`]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[xX][0-9a-fA-F]{2}|[0-3][0-7]{2})"""
_PLAIN: Final = (
    rf'"""(?:{_ESCAPE}|[^\\])*?"""',
    rf"'''(?:{_ESCAPE}|[^\\])*?'''",
    rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
    rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    r'[rR]"""[\s\S]*?"""',
    r"[rR]'''[\s\S]*?'''",
    r'[rR]"[^"\n\r]*"',
    r"[rR]'[^'\n\r]*'",
)
_STRINGS: Final = "|".join(_PLAIN)
_TOKEN: Final = re.compile(
    r"(?P<space>[\t \r\n\f]+)|(?P<comment>//[^\n]*)"
    rf"|(?P<bytes>[bB](?:{_STRINGS}))|(?P<string>{_STRINGS})"
    r"|(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<uint>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])|(?P<int>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<escaped>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<mark>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])"
)
_GROUPS: Final = {
    "space": 29, "comment": 30, "float": NUM_FLOAT, "int": NUM_INT, "uint": NUM_UINT, "string": STRING,
    "bytes": BYTES, "escaped": ESC_IDENTIFIER,
}  # fmt: skip
_BROKEN: Final = (
    re.compile(rf"""(?:"(?:{_ESCAPE}|[^\\"\n\r])*|'(?:{_ESCAPE}|[^\\'\n\r])*)"""),
    re.compile(r"`[A-Za-z0-9_.\-/ ]*"),
    re.compile(r"[=&|]"),
)
_HALF_ESCAPE: Final = re.compile(r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?")
_SHOWN: Final = str.maketrans({"\n": "\\n", "\t": "\\t", "\r": "\\r"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token; `end` is where the next one may begin."""

    kind: int
    text: str
    offset: int
    end: int


def tokenize(text: str, issues: Issues) -> list[Token]:
    """Return all tokens, hidden ones included, the last of them EOF."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            position = _skip(text, position, issues)
            continue
        group = match.lastgroup or ""
        word = match.group()
        kind = _GROUPS.get(group) or KIND.get(word, IDENTIFIER)
        found.append(Token(kind, word, position, match.end()))
        position = match.end()
    found.append(Token(EOF, "<EOF>", position, position))
    return found


def _skip(text: str, position: int, issues: Issues) -> int:
    """Complain about what begins no token; return where reading goes on."""
    end = position
    for broken in _BROKEN:
        match = broken.match(text, position)
        if match is not None and match.end() > position:
            end = match.end()
            if text[position] in "\"'":
                half = _HALF_ESCAPE.match(text, end)
                end = half.end() if half is not None else end
            break
    # The character at which no token can go on any more is quoted, and left out, too.
    end = min(end + 1, len(text))
    issues.add(
        position, f"Syntax error: token recognition error at: '{text[position:end].translate(_SHOWN)}'"
    )
    return end
