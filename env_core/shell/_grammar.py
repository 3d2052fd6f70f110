"""The grammar of the shell: from tokens to the syntax tree."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from env_core.shell._words import NESTING_MAX
from env_core.shell.lexer import Lexer, Token
from env_core.shell.syntax import (
    AndOr,
    Array,
    Background,
    Case,
    For,
    Function,
    Group,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Redirected,
    Sequence,
    Simple,
    SyntaxProblem,
    Text,
    Word,
)

RESERVED: Final = frozenset(
    [
        "!",
        "{",
        "}",
        "case",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "if",
        "in",
        "then",
        "until",
        "while",
    ]
)
_CLOSERS: Final = frozenset(["}", "do", "done", "elif", "else", "esac", "fi", "then"])
ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_UNQUOTED_NAMES: Final = {
    "eof": "end of file",
    "newline": "newline",
    "word": "word",
    "redirection": "redirection",
}


class Parser:
    """A recursive-descent parser that takes one complete command (up to its line end) at a time."""

    reserved_words: frozenset[str] = RESERVED

    def __init__(self, lexer: Lexer) -> None:
        """Read from `lexer`, which may be shared with an enclosing parser."""
        self._lexer = lexer
        self._ahead: Token | None = None

    def next_command(self) -> Sequence | None:
        """Return the next complete command, or None at the end.

        Raises:
            SyntaxProblem: if there is none.
        """
        while self._peek().kind == "newline":
            self._take()
        if self._peek().kind == "eof":
            return None
        body = self._list(stops_at_newline=True)
        if self._peek().kind not in ("newline", "eof"):
            self._unexpected()
        if self._peek().kind == "eof":
            self._lexer.finish_here_documents()
        return body

    def substitution(self) -> Sequence:
        """Return the commands up to the `)` that closes a substitution, and take that too."""
        body = self._list(stops_at_newline=False, may_be_empty=True)
        self._expect(")")
        return body

    def _peek(self) -> Token:
        if self._ahead is None:
            self._ahead = self._lexer.next_token()
        return self._ahead

    def _take(self) -> Token:
        token = self._peek()
        self._ahead = None
        return token

    def _reserved(self) -> str:
        """Return the reserved word that comes next, or ""."""
        token = self._peek()
        if token.word is not None and token.word.raw in self.reserved_words:
            return token.word.raw
        return ""

    def _is_next(self, name: str) -> bool:
        return self._reserved() == name or self._peek().kind == name

    def _expect(self, name: str) -> None:
        if not self._is_next(name):
            self._unexpected(name)
        self._take()

    def _unexpected(self, expected: str = "", *, in_command: bool = True) -> NoReturn:
        token = self._peek()
        shown = self._reserved() if in_command or expected in RESERVED else ""
        found = f'"{shown}"' if shown else _UNQUOTED_NAMES.get(token.kind, f'"{token.kind}"')
        text = f"{found} unexpected"
        wanted = ""
        if expected:
            wanted = _UNQUOTED_NAMES.get(expected, f'"{expected}"')
            text += f" (expecting {wanted})"
        near = token.word.raw if token.word is not None else token.operator or token.kind
        raise SyntaxProblem(
            text,
            self._lexer.line if token.kind == "eof" else token.line,
            found,
            wanted,
            near="" if token.kind == "eof" else near,
        )

    def _skip_newlines(self) -> None:
        while self._peek().kind == "newline":
            self._take()

    def _list(self, *, stops_at_newline: bool, may_be_empty: bool = False) -> Sequence:
        self._lexer.depth += 1
        if self._lexer.depth > NESTING_MAX:
            raise SyntaxProblem("nesting too deep", self._peek().line)
        items: list[Node] = []
        if not stops_at_newline:
            self._skip_newlines()
        while self._peek().kind != "eof" and not (self._ends_list() and (items or may_be_empty)):
            item = self._and_or()
            separator = self._peek().kind
            if separator == "&":
                item = Background(item)
            items.append(item)
            if separator not in (";", "&", "newline"):
                break
            if separator == "newline" and stops_at_newline:
                break
            self._take()
            if stops_at_newline:
                if self._peek().kind in ("newline", "eof"):
                    break
            else:
                self._skip_newlines()
        self._lexer.depth -= 1
        return Sequence(tuple(items))

    def _ends_list(self) -> bool:
        return self._reserved() in _CLOSERS or self._peek().kind in ("eof", ")", ";;")

    def _and_or(self) -> Node:
        first = self._pipeline()
        rest: list[tuple[str, Node]] = []
        while self._peek().kind in ("&&", "||"):
            operator = self._take().kind
            self._skip_newlines()
            rest.append((operator, self._pipeline()))
        return AndOr(first, tuple(rest)) if rest else first

    def _pipeline(self) -> Node:
        is_negated = False
        while self._reserved() == "!":
            self._take()
            is_negated = not is_negated
        commands = [self._command()]
        while self._peek().kind == "|":
            self._take()
            self._skip_newlines()
            commands.append(self._command())
        if len(commands) == 1 and not is_negated:
            return commands[0]
        return Pipeline(tuple(commands), is_negated)

    def _command(self) -> Node:
        token = self._peek()
        reserved = self._reserved()
        body: Node
        if token.kind == "(":
            self._take()
            body = Group(self._list(stops_at_newline=False), is_subshell=True)
            self._expect(")")
        elif reserved == "{":
            self._take()
            body = Group(self._list(stops_at_newline=False), is_subshell=False)
            self._expect("}")
        elif reserved == "for":
            body = self._for()
        elif reserved in ("while", "until"):
            self._take()
            condition = self._list(stops_at_newline=False)
            body = Loop(condition, self._do_group(), reserved == "until")
        elif reserved == "if":
            body = self._if()
        elif reserved == "case":
            body = self._case()
        elif (token.kind in ("word", "redirection") and not reserved) or reserved == "in":
            return self._simple()
        else:
            self._unexpected()
        redirects: list[Redirect] = []
        while self._peek().kind == "redirection":
            redirects.append(self._redirect())
        return Redirected(body, tuple(redirects), token.line) if redirects else body

    def _do_group(self) -> Sequence:
        self._expect("do")
        body = self._list(stops_at_newline=False)
        self._expect("done")
        return body

    def _for(self) -> Node:
        self._take()
        token = self._take()
        if token.word is None or NAME.match(token.word.raw) is None:
            raise SyntaxProblem("Bad for loop variable", token.line)
        words: list[Word] | None = None
        self._skip_newlines()
        if self._reserved() == "in":
            self._take()
            words = []
            while self._peek().kind == "word":
                word = self._take().word
                assert word is not None
                words.append(word)
            if self._peek().kind not in ("newline", ";"):
                self._unexpected(in_command=False)
            self._take()
        elif self._peek().kind == ";":
            self._take()
        self._skip_newlines()
        return For(token.word.raw, None if words is None else tuple(words), self._do_group())

    def _if(self) -> Node:
        self._take()
        branches: list[tuple[Sequence, Sequence]] = []
        otherwise: Sequence | None = None
        while True:
            condition = self._list(stops_at_newline=False)
            self._expect("then")
            branches.append((condition, self._list(stops_at_newline=False)))
            if self._reserved() != "elif":
                break
            self._take()
        if self._reserved() == "else":
            self._take()
            otherwise = self._list(stops_at_newline=False)
        self._expect("fi")
        return If(tuple(branches), otherwise)

    def _case(self) -> Node:
        self._take()
        token = self._peek()
        if token.word is None:
            self._unexpected("word")
        self._take()
        self._skip_newlines()
        self._expect("in")
        items: list[tuple[tuple[Word, ...], Sequence]] = []
        self._skip_newlines()
        while self._reserved() != "esac":
            if self._peek().kind == "(":
                self._take()
            patterns: list[Word] = []
            while True:
                pattern = self._peek().word
                if pattern is None:
                    self._unexpected(")", in_command=False)
                self._take()
                patterns.append(pattern)
                if self._peek().kind != "|":
                    break
                self._take()
            if self._peek().kind != ")":
                self._unexpected(")", in_command=False)
            self._take()
            items.append((tuple(patterns), self._list(stops_at_newline=False, may_be_empty=True)))
            self._skip_newlines()
            if self._peek().kind == ";;":
                self._take()
                self._skip_newlines()
            elif self._reserved() != "esac":
                self._unexpected(";;")
        self._take()
        return Case(token.word, tuple(items))

    def _simple(self) -> Node:
        line = self._peek().line
        assignments: list[tuple[str, Word | Array]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            token = self._peek()
            if token.kind == "redirection":
                redirects.append(self._redirect())
            elif token.word is not None:
                self._take()
                found = None if words else ASSIGNMENT.match(token.word.raw)
                if found is not None:
                    assignments.append((found.group(1), after_prefix(token.word, found.end())))
                else:
                    words.append(token.word)
            elif token.kind == "(" and len(words) == 1 and not assignments and not redirects:
                return self._function(words[0])
            else:
                break
        return Simple(tuple(assignments), tuple(words), tuple(redirects), line)

    def _function(self, name: Word) -> Node:
        self._take()
        if self._peek().kind != ")":
            self._unexpected(")", in_command=False)
        self._take()
        if NAME.match(name.raw) is None:
            raise SyntaxProblem("Bad function name", self._peek().line)
        self._skip_newlines()
        return Function(name.raw, self._command())

    def _redirect(self) -> Redirect:
        token = self._take()
        target = self._peek()
        if target.word is None:
            self._unexpected(in_command=False)
        self._take()
        operator = token.operator
        descriptor = token.descriptor
        if descriptor == -1:
            descriptor = 0 if operator[0] == "<" else 1
        if operator in ("<<", "<<-"):
            document = self._lexer.here_document(target.word, strips_tabs=operator == "<<-")
            return Redirect(descriptor, "<<", document)
        literal = target.word.literal
        if operator in (">&", "<&") and literal is not None and not (literal == "-" or literal.isdecimal()):
            raise SyntaxProblem("Bad fd number", target.line)
        return Redirect(descriptor, operator, target.word)


def after_prefix(word: Word, length: int) -> Word:
    """Return `word` without its first `length` characters, which are plain."""
    first = word.parts[0]
    assert isinstance(first, Text)
    rest = first.text[length:]
    parts = word.parts[1:]
    if rest:
        parts = (Text(rest, first.quoted), *parts)
    return Word(parts, word.raw[length:])


def _substituted(lexer: Lexer) -> Sequence:
    return Parser(lexer).substitution()


def parser(source: str, line: int = 1) -> Parser:
    """Return a parser at the start of `source`, whose first line has the number `line`."""
    return Parser(Lexer(source, _substituted, line))
