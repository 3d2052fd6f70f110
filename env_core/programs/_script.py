"""The syntax of the small shell scripts that container commands are: words, lists, loops, conditions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

Tree = tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command: its words as typed, and what takes its standard output ("&2" or a file)."""

    words: tuple[str, ...]
    output: str = ""
    is_background: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """Commands joined by "&&" and "||": the operator before each one; a pipeline is one item, its last command counts."""

    items: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`while`, `until` or `for`; `variable` and `words` only for the last."""

    condition: Tree
    body: Tree
    is_until: bool = False
    variable: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """`if`: pairs of condition and body, and the `else` part."""

    branches: tuple[tuple[Tree, Tree], ...]
    otherwise: Tree


Node = Command | Chain | Loop | Branch

_OPERATORS: Final = ("&&", "||", ";;", ">>", ";", "&", "|", "(", ")", "{", "}", "\n", ">", "<")
_END: Final = ""


class ScriptProblem(ValueError):
    """The text is no script that is understood here."""


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Return (text, whether it is an operator); words keep their quotes."""
    found: list[tuple[str, bool]] = []
    position = 0
    size = len(text)
    while position < size:
        character = text[position]
        if character in " \t":
            position += 1
            continue
        if character == "\\" and text[position + 1 : position + 2] == "\n":
            position += 2
            continue
        if character == "#":
            position = text.find("\n", position)
            if position == -1:
                break
            continue
        operator = next(
            (each for each in _OPERATORS if each not in "{}" and text.startswith(each, position)), ""
        )
        if operator:
            found.append((operator, True))
            position += len(operator)
            continue
        start = position
        position = _word_end(text, position)
        found.append((text[start:position], False))
    return found


def _word_end(text: str, position: int) -> int:
    size = len(text)
    while position < size:
        character = text[position]
        if character == "\\":
            position += 2
        elif character == "'":
            position = text.find("'", position + 1) + 1
            if position == 0:
                raise ScriptProblem("unterminated quoted string")
        elif character == '"':
            position = _quote_end(text, position + 1)
        elif text.startswith("$(", position):
            position = _parenthesis_end(text, position + 2)
        elif character in " \t\n;&|()<>":
            # A digit in front of ">" belongs to the redirection, as does "&" after it.
            if character == "&" and text[position - 1] == ">":
                position += 1
                continue
            if character in "<>" and text[position - 1].isdigit():
                position += 1
                continue
            return position
        else:
            position += 1
    return min(position, size)


def _quote_end(text: str, position: int) -> int:
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text[position] == '"':
            return position + 1
        else:
            position += 1
    raise ScriptProblem("unterminated quoted string")


def _parenthesis_end(text: str, position: int) -> int:
    depth = 1
    while position < len(text):
        if text[position] == "(":
            depth += 1
        elif text[position] == ")":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    raise ScriptProblem("unterminated command substitution")


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.at = 0

    def peek(self) -> tuple[str, bool]:
        return self.tokens[self.at] if self.at < len(self.tokens) else (_END, True)

    def take(self) -> tuple[str, bool]:
        token = self.peek()
        self.at += 1
        return token

    def skip(self) -> None:
        while self.peek()[1] and self.peek()[0] in ("\n", ";"):
            self.at += 1

    def expect(self, word: str) -> None:
        self.skip()
        if self.take()[0] != word:
            raise ScriptProblem(f"expecting {word}")

    def list_until(self, *ends: str) -> Tree:
        nodes: list[Node] = []
        while True:
            self.skip()
            text, is_operator = self.peek()
            if text in ends or (is_operator and text == _END):
                if text not in ends and ends != (_END,):
                    raise ScriptProblem("unexpected end of file")
                return tuple(nodes)
            nodes.append(self.chain())

    def chain(self) -> Node:
        items: list[tuple[str, Node]] = [("", self.pipeline())]
        while self.peek()[1] and self.peek()[0] in ("&&", "||"):
            operator = self.take()[0]
            self.skip()
            items.append((operator, self.pipeline()))
        if self.peek() == ("&", True):
            self.take()
            last = items[-1][1]
            if isinstance(last, Command):
                items[-1] = (items[-1][0], Command(last.words, last.output, is_background=True))
        return items[0][1] if len(items) == 1 else Chain(tuple(items))

    def pipeline(self) -> Node:
        node = self.command()
        while self.peek() == ("|", True):
            self.take()
            self.skip()
            node = self.command()
        return node

    def command(self) -> Node:
        text, is_operator = self.peek()
        if is_operator:
            if text == "(":
                self.take()
                body = self.list_until(")")
                self.take()
                return Branch((), body)
            raise ScriptProblem(f"unexpected {text!r}")
        if text == "{":
            self.take()
            body = self.list_until("}")
            self.take()
            return Branch((), body)
        if text in ("while", "until"):
            self.take()
            condition = self.list_until("do")
            self.take()
            body = self.list_until("done")
            self.take()
            self._redirections([])
            return Loop(condition, body, is_until=text == "until")
        if text == "for":
            return self._for()
        if text == "if":
            return self._if()
        return self._simple()

    def _for(self) -> Node:
        self.take()
        variable = self.take()[0]
        words: list[str] = []
        if self.peek() == ("in", False):
            self.take()
            while not self.peek()[1]:
                words.append(self.take()[0])
        self.expect("do")
        body = self.list_until("done")
        self.take()
        return Loop((), body, variable=variable, words=tuple(words))

    def _if(self) -> Node:
        branches: list[tuple[Tree, Tree]] = []
        otherwise: Tree = ()
        self.take()
        while True:
            condition = self.list_until("then")
            self.take()
            body = self.list_until("elif", "else", "fi")
            branches.append((condition, body))
            word = self.take()[0]
            if word == "fi":
                break
            if word == "else":
                otherwise = self.list_until("fi")
                self.take()
                break
        return Branch(tuple(branches), otherwise)

    def _simple(self) -> Command:
        words: list[str] = []
        output = self._redirections(words)
        return Command(tuple(words), output)

    def _redirections(self, words: list[str]) -> str:
        output = ""
        while True:
            text, is_operator = self.peek()
            if is_operator and text in (">", ">>", "<"):
                self.take()
                mark = ""
                if self.peek() == ("&", True):
                    mark = self.take()[0]
                target = mark + self.take()[0]
                output = target if text != "<" else output
                continue
            if is_operator:
                return output
            self.take()
            if text[:1].isdigit() and text[1:2] in ("<", ">"):
                if text[2:] == "" or text[2:] == ">":
                    self.take()
                continue
            words.append(text)


@lru_cache(maxsize=256)
def parse(text: str) -> Tree:
    """Return the syntax tree of a script.

    Raises:
        ScriptProblem: if it is not understood.
    """
    return _Reader(text).list_until(_END)
