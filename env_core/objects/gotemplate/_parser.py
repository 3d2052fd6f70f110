"""Reading a Go template, with text/template's error texts.

Source: Go text/template/parse; tests/golden/l0/output_formats.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

from env_core.objects.gotemplate import _lexer as lexer
from env_core.objects.gotemplate._lexer import Token, tokens_of
from env_core.objects.gotemplate._literals import literal_value
from env_core.objects.gotemplate._nodes import (
    Action,
    Branch,
    Call,
    Chain,
    Command,
    Constant,
    Dot,
    End,
    Field,
    Function,
    Jump,
    Nil,
    Operand,
    Pipeline,
    Statement,
    TemplateError,
    Text,
    Variable,
)
from env_core.objects.problems import quoted

_OPERANDS: Final = frozenset(
    {
        lexer.BOOL,
        lexer.CHARACTER,
        lexer.DOT,
        lexer.FIELD,
        lexer.IDENTIFIER,
        lexer.NUMBER,
        lexer.NIL,
        lexer.RAW_STRING,
        lexer.STRING,
        lexer.VARIABLE,
        lexer.OPEN,
    }
)
_NESTING_MAX: Final = 60
_LENGTH_MAX: Final = 64_000


def parse_templates(name: str, source: str, functions: Container[str]) -> dict[str, tuple[Statement, ...]]:
    """Return the statements of the template and of each one that it defines, by name.

    Raises:
        TemplateError: with Go's text, or when blocks nest absurdly deep.
    """
    if len(source) > _LENGTH_MAX:
        raise TemplateError(f"template: {name}:1: template is too complex")
    return _Parser(name, source, functions).templates()


class _Parser:
    __slots__ = (
        "_action_line",
        "_at",
        "_defined",
        "_functions",
        "_name",
        "_nesting",
        "_range_depth",
        "_tokens",
        "_variables",
    )

    def __init__(self, name: str, source: str, functions: Container[str]) -> None:
        self._name = name
        self._tokens = tokens_of(source)
        self._at = 0
        self._functions = functions
        self._variables = ["$"]
        self._range_depth = 0
        self._action_line = 0
        self._nesting = 0
        self._defined: dict[str, tuple[Statement, ...]] = {}

    def templates(self) -> dict[str, tuple[Statement, ...]]:
        statements: list[Statement] = []
        while (token := self._peek()).kind != lexer.END:
            if token.kind == lexer.LEFT and self._peek_past_space(1).text == "define":
                self._definition()
                continue
            node = self._statement()
            if isinstance(node, End):
                raise self._error(f"unexpected {node}")
            statements.append(node)
        self._add(self._name, tuple(statements))
        return self._defined

    def _add(self, name: str, statements: tuple[Statement, ...]) -> None:
        """Keep a template; one of nothing but blanks does not replace another."""
        is_empty = all(isinstance(node, Text) and not node.text.strip() for node in statements)
        if name not in self._defined or not is_empty:
            self._defined[name] = statements

    # Tokens

    def _error(self, message: str) -> TemplateError:
        line = self._tokens[min(max(self._at - 1, 0), len(self._tokens) - 1)].line
        return TemplateError(f"template: {self._name}:{line}: {message}")

    def _peek(self) -> Token:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _peek_past_space(self, ahead: int = 0) -> Token:
        at = self._at + ahead
        while at < len(self._tokens) - 1 and self._tokens[at].kind == lexer.SPACE:
            at += 1
        return self._tokens[min(at, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _next_past_space(self) -> Token:
        while (token := self._next()).kind == lexer.SPACE:
            pass
        return token

    def _skip_space(self) -> Token:
        while self._peek().kind == lexer.SPACE:
            self._at += 1
        return self._peek()

    def _unexpected(self, token: Token, context: str) -> TemplateError:
        if token.kind == lexer.ERROR:
            extra = ""
            if self._action_line and self._action_line != token.line:
                extra = f" in action started at {self._name}:{self._action_line}"
                if token.text.endswith(" action"):
                    extra = extra.removeprefix(" in action")
            return self._error(token.text + extra)
        return self._error(f"unexpected {token} in {context}")

    def _expect(self, kind: str, context: str) -> Token:
        token = self._next_past_space()
        if token.kind != kind:
            raise self._unexpected(token, context)
        return token

    # Statements

    def _statement(self) -> Statement | End:
        token = self._next_past_space()
        if token.kind == lexer.TEXT:
            return Text(token.at, token.text)
        if token.kind != lexer.LEFT:
            raise self._unexpected(token, "input")
        self._action_line = token.line
        node = self._action()
        self._action_line = 0
        return node

    def _action(self) -> Statement | End:
        token = self._next_past_space()
        if token.kind == lexer.KEYWORD:
            if token.text in ("if", "range", "with"):
                return self._branch(token.text, token.at)
            if token.text in ("end", "else"):
                return self._closing(token)
            if token.text == "template":
                return self._call()
            if token.text == "block":
                return self._block()
            if token.text in ("break", "continue"):
                return self._jump(token)
        self._at -= 1
        start = self._peek()
        return Action(start.at, self._pipeline("command", lexer.RIGHT))

    def _closing(self, token: Token) -> End:
        if token.text == "else" and self._skip_space().text in ("if", "with"):
            # "else if" stays open: the inner branch takes the rest.
            return End(token.at, "else")
        self._expect(lexer.RIGHT, token.text)
        return End(token.at, token.text)

    def _jump(self, token: Token) -> Jump:
        following = self._next_past_space()
        if following.kind != lexer.RIGHT:
            raise self._unexpected(following, f"{{{{{token.text}}}}}")
        if not self._range_depth:
            raise self._error(f"{{{{{token.text}}}}} outside {{{{range}}}}")
        return Jump(token.at, token.text)

    def _body(self) -> tuple[tuple[Statement, ...], End]:
        """Read up to the next end or else."""
        self._nesting += 1
        if self._nesting > _NESTING_MAX:
            raise self._error("template is too complex")
        statements: list[Statement] = []
        while self._skip_space().kind != lexer.END:
            node = self._statement()
            if isinstance(node, End):
                self._nesting -= 1
                return tuple(statements), node
            statements.append(node)
        self._at += 1
        raise self._error("unexpected EOF")

    def _branch(self, keyword: str, at: int) -> Branch:
        variables = len(self._variables)
        pipeline = self._pipeline(keyword, lexer.RIGHT)
        is_range = keyword == "range"
        self._range_depth += is_range
        body, end = self._body()
        self._range_depth -= is_range
        otherwise: tuple[Statement, ...] | None = None
        if end.keyword == "else":
            if keyword != "range" and self._peek().text == keyword:
                token = self._next()
                otherwise = (self._branch(keyword, token.at),)
            else:
                otherwise, end = self._body()
                if end.keyword != "end":
                    raise self._error(f"expected end; found {end}")
        del self._variables[variables:]
        return Branch(at, keyword, pipeline, body, otherwise)

    def _template_name(self, context: str) -> str:
        token = self._next_past_space()
        if token.kind not in (lexer.STRING, lexer.RAW_STRING):
            raise self._unexpected(token, context)
        name: str = self._literal(token)
        return name

    def _call(self) -> Call:
        at = self._skip_space().at
        name = self._template_name("template clause")
        pipeline: Pipeline | None = None
        if self._next_past_space().kind != lexer.RIGHT:
            self._at -= 1
            pipeline = self._pipeline("template clause", lexer.RIGHT)
        return Call(at, name, pipeline)

    def _block(self) -> Call:
        at = self._skip_space().at
        name = self._template_name("block clause")
        pipeline = self._pipeline("block clause", lexer.RIGHT)
        self._named_body(name, "block clause")
        return Call(at, name, pipeline)

    def _definition(self) -> None:
        self._next()
        self._next_past_space()
        name = self._template_name("define clause")
        self._expect(lexer.RIGHT, "define clause")
        self._named_body(name, "define clause")

    def _named_body(self, name: str, context: str) -> None:
        outer, self._variables = self._variables, ["$"]
        body, end = self._body()
        if end.keyword != "end":
            raise self._error(f"unexpected {end} in {context}")
        self._variables = outer
        self._add(name, body)

    # Pipelines

    def _pipeline(self, context: str, closing: str) -> Pipeline:
        at = self._skip_space().at
        variables, is_assignment = self._declarations(context)
        commands: list[Command] = []
        while True:
            token = self._next_past_space()
            if token.kind == closing:
                break
            if token.kind not in _OPERANDS:
                raise self._unexpected(token, context)
            self._at -= 1
            commands.append(self._command())
        if not commands:
            raise self._error(f"missing value for {context}")
        for index, command in enumerate(commands[1:]):
            if isinstance(command.operands[0], Constant | Dot | Nil):
                raise self._error(f"non executable command in pipeline stage {index + 2}")
        return Pipeline(at, variables, is_assignment, tuple(commands))

    def _declarations(self, context: str) -> tuple[tuple[str, ...], bool]:
        """Read `$a, $b :=`; the variables are known from here on."""
        names: list[str] = []
        while (token := self._skip_space()).kind == lexer.VARIABLE:
            following = self._peek_past_space(1)
            if following.kind in (lexer.ASSIGN, lexer.DECLARE):
                self._next()
                self._next_past_space()
                names.append(token.text)
                self._variables.append(token.text)
                return tuple(names), following.kind == lexer.ASSIGN
            if following.kind != lexer.COMMA:
                break
            self._next()
            self._next_past_space()
            names.append(token.text)
            self._variables.append(token.text)
            if context != "range" or len(names) > 1:
                raise self._error(f"too many declarations in {context}")
            if self._skip_space().kind not in (lexer.VARIABLE, lexer.RIGHT, lexer.CLOSE):
                raise self._error("range can only initialize variables")
        return tuple(names), False

    def _command(self) -> Command:
        at = self._skip_space().at
        operands: list[Operand] = []
        while True:
            self._skip_space()
            operand = self._operand()
            if operand is not None:
                operands.append(operand)
            token = self._next()
            if token.kind == lexer.SPACE:
                continue
            if token.kind in (lexer.RIGHT, lexer.CLOSE):
                self._at -= 1
            elif token.kind != lexer.PIPE:
                raise self._unexpected(token, "operand")
            break
        if not operands:
            raise self._error("empty command")
        return Command(at, tuple(operands))

    def _operand(self) -> Operand | None:
        node = self._term()
        if node is None or self._peek().kind != lexer.FIELD:
            return node
        at = self._peek().at
        names: list[str] = []
        while self._peek().kind == lexer.FIELD:
            names.append(self._next().text[1:])
        if isinstance(node, Field):
            return Field(at, (*node.names, *names))
        if isinstance(node, Variable):
            return Variable(at, (*node.names, *names))
        if isinstance(node, Constant | Nil | Dot):
            raise self._error(f"unexpected . after term {quoted(str(node))}")
        return Chain(at, node, tuple(names))

    def _term(self) -> Operand | None:
        token = self._next_past_space()
        if token.kind == lexer.IDENTIFIER:
            if token.text not in self._functions:
                raise self._error(f"function {quoted(token.text)} not defined")
            return Function(token.at, token.text)
        if token.kind == lexer.DOT:
            return Dot(token.at)
        if token.kind == lexer.NIL:
            return Nil(token.at)
        if token.kind == lexer.VARIABLE:
            if token.text not in self._variables:
                raise self._error(f"undefined variable {quoted(token.text)}")
            return Variable(token.at, (token.text,))
        if token.kind == lexer.FIELD:
            return Field(token.at, (token.text[1:],))
        if token.kind == lexer.BOOL:
            return Constant(token.at, token.text == "true", token.text)
        if token.kind in (lexer.NUMBER, lexer.CHARACTER, lexer.STRING, lexer.RAW_STRING):
            return Constant(token.at, self._literal(token), token.text)
        if token.kind == lexer.OPEN:
            self._nesting += 1
            if self._nesting > _NESTING_MAX:
                raise self._error("template is too complex")
            pipeline = self._pipeline("parenthesized pipeline", lexer.CLOSE)
            self._nesting -= 1
            return pipeline
        self._at -= 1
        return None

    def _literal(self, token: Token) -> Any:
        try:
            return literal_value(token)
        except ValueError as error:
            raise self._error(str(error)) from error
