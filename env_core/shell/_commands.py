"""Lines as trees, and the simple commands in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from env_core.shell._bash_grammar import bash_parser
from env_core.shell._grammar import parser
from env_core.shell.syntax import (
    AndOr,
    Arithmetic,
    Array,
    Background,
    Case,
    For,
    Function,
    Group,
    HereDocument,
    If,
    Loop,
    Node,
    Parameter,
    Pipeline,
    Redirected,
    Sequence,
    Simple,
    Substitution,
    Word,
)


@lru_cache(maxsize=512)
def parse(line: str) -> Sequence:
    """Return the syntax tree of a whole line (or script).

    Raises:
        SyntaxProblem: if it is none; the text is dash's.
    """
    reader = parser(line)
    items: list[Node] = []
    while (command := reader.next_command()) is not None:
        items.extend(command.items)
    return Sequence(tuple(items))


@lru_cache(maxsize=256)
def parse_script(text: str, *, is_bash: bool = False) -> Sequence:
    """Return the syntax tree of a whole script in the language of dash and ash, or of bash.

    Raises:
        SyntaxProblem: if it is none.
    """
    reader = bash_parser(text) if is_bash else parser(text)
    items: list[Node] = []
    while (command := reader.next_command()) is not None:
        items.extend(command.items)
    return Sequence(tuple(items))


def simple_commands(tree: Node) -> list[list[str]]:
    """Return the words of every simple command in a tree, those in substitutions included.

    Words without expansions come without their quotes; others as typed.
    """
    return [list(words) for words in _commands(tree)]


def _commands(tree: Node) -> Iterator[list[str]]:
    """Yield the words of a tree's simple commands, outer ones before those in their substitutions."""
    if isinstance(tree, Simple):
        if tree.words:
            yield [word.raw if word.literal is None else word.literal for word in tree.words]
        values = [
            word
            for _, value in tree.assignments
            for word in (value.words if isinstance(value, Array) else (value,))
        ]
        yield from _commands_in_words([*values, *tree.words])
        yield from _commands_in_words([each.target for each in tree.redirects])
        return
    if isinstance(tree, For):
        yield from _commands_in_words(list(tree.words or ()))
    elif isinstance(tree, Case):
        yield from _commands_in_words([tree.word])
    elif isinstance(tree, Redirected):
        yield from _commands_in_words([each.target for each in tree.redirects])
    for child in _children(tree):
        yield from _commands(child)


def _commands_in_words(words: list[Word | HereDocument]) -> Iterator[list[str]]:
    for each in words:
        word = each.text if isinstance(each, HereDocument) else each
        for part in word.parts if word is not None else ():
            if isinstance(part, Substitution):
                yield from _commands(part.body)
            elif isinstance(part, Parameter) and part.argument is not None:
                yield from _commands_in_words([part.argument])
            elif isinstance(part, Arithmetic):
                yield from _commands_in_words([part.word])


def _children(tree: Node) -> tuple[Node, ...]:
    if isinstance(tree, Sequence):
        return tree.items
    if isinstance(tree, Pipeline):
        return tree.commands
    if isinstance(tree, AndOr):
        return (tree.first, *(node for _, node in tree.rest))
    if isinstance(tree, If):
        bodies = [part for branch in tree.branches for part in branch]
        return (*bodies, tree.otherwise) if tree.otherwise is not None else tuple(bodies)
    if isinstance(tree, Loop):
        return (tree.condition, tree.body)
    if isinstance(tree, Case):
        return tuple(body for _, body in tree.items)
    if isinstance(tree, Background | Group | Redirected | For | Function):
        return (tree.body,)
    return ()
