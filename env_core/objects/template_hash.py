"""pod-template-hash: FNV-1a over Go's dump of a pod template, as controllers name replica sets and revisions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Protocol

from env_core.objects.jsonout import to_compact_json
from env_core.objects.quantity import QuantityError, from_value
from env_core.world import Object

_OFFSET: Final = 0x811C9DC5
_PRIME: Final = 0x01000193
_MASK: Final = 0xFFFFFFFF
_SAFE: Final = "bcdfghjklmnpqrstvwxz2456789"
_QUANTITY: Final = (
    "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} "
    "d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}} s:(string){text} Format:(resource.Format){format}}}"
)
_BIG_QUANTITY: Final = (
    "{{i:(resource.int64Amount){{value:(int64)0 scale:(resource.Scale)0}} "
    "d:(resource.infDecAmount){{Dec:(*inf.Dec){{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)[{words}]}} "
    "scale:(inf.Scale){scale}}}}} s:(string) Format:(resource.Format){format}}}"
)
_NO_QUANTITY: Final = _QUANTITY.format(value=0, scale=0, text="", format="")
_NO_TIME: Final = "(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}"


class DumpType(Protocol):
    """A Go type: reflect's kind, how it prints, its element, its struct."""

    @property
    def kind(self) -> str:
        """The word of reflect.Kind."""

    @property
    def text(self) -> str:
        """How Go prints the type."""

    @property
    def element(self) -> DumpType | None:
        """What a pointer, slice or map holds."""

    @property
    def struct(self) -> DumpStruct:
        """The struct of a "struct" type."""


class DumpField(Protocol):
    """A struct field, by its Go name and its JSON name."""

    @property
    def go(self) -> str:
        """The field's name in Go."""

    @property
    def json(self) -> str:
        """The field's name in JSON, "" when inlined."""

    @property
    def inline(self) -> bool:
        """Whether the JSON members of this struct are its parent's."""

    @property
    def type(self) -> DumpType:
        """The field's type."""


class DumpStruct(Protocol):
    """A struct with its fields in Go order; `special` names structs with a JSON form of their own.

    Hashed by identity: how to dump a struct is worked out once.
    """

    def __hash__(self) -> int: ...

    @property
    def text(self) -> str:
        """How Go prints the type."""

    @property
    def special(self) -> str:
        """One of "quantity", "intOrString", "time"..., "" for ordinary structs."""

    @property
    def members(self) -> Sequence[DumpField]:
        """The fields in Go order."""


def compute_hash(template: Object, collision_count: int | None, schema: DumpStruct) -> str:
    """Return the pod-template-hash of a template as it is stored (defaults filled in).

    `schema` is the type PodTemplateSpec. `collision_count` is the Deployment's `status.collisionCount`.

    Source: pkg/controller ComputeHash, util/hash DeepHashObject; tests/golden/l0/template_hash,
    l2/facts/hashes.
    """
    state = _OFFSET
    for piece in _pieces(template, schema):
        state = _advanced(state, piece)
    if collision_count is not None:
        # Go writes eight bytes, of which PutUint32 fills the first four.
        for byte in (collision_count & _MASK).to_bytes(8, "little"):
            state = (state ^ byte) * _PRIME & _MASK
    return safe_encoded(str(state))


def dump(template: Object, schema: DumpStruct) -> str:
    """Return the text that `compute_hash` hashes."""
    return "".join(_pieces(template, schema))


def fnv32a(data: bytes) -> int:
    """Return the 32-bit FNV-1a hash."""
    state = _OFFSET
    for byte in data:
        state = (state ^ byte) * _PRIME & _MASK
    return state


def safe_encoded(text: str) -> str:
    """Return `text` in the alphabet of generated names, without vowels that could spell words.

    Source: apimachinery util/rand SafeEncodeString.
    """
    return "".join(_SAFE[byte % len(_SAFE)] for byte in text.encode())


def _advanced(state: int, piece: str) -> int:
    """Return the hash after one more piece of text.

    Only the low byte of the state meets the text bit by bit; the rest is multiplied through. So the effect
    of a piece is fixed by its text and the low byte, and the dump's constant stretches are computed once.
    """
    low = state & 0xFF
    effect = _effect(piece)
    ends = effect.ends or effect.learn()
    if ends:
        return ((state - low) * effect.factor + ends[low]) & _MASK
    for byte in effect.text:
        state = (state ^ byte) * _PRIME & _MASK
    return state


class _Effect:
    """What a piece of text does to a hash: it multiplies the upper bytes, and takes each low byte somewhere."""

    __slots__ = ("_times", "ends", "factor", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.factor = pow(_PRIME, len(text), 1 << 32)
        self.ends: tuple[int, ...] = ()
        """Where each low byte is taken; () until it is known."""
        self._times = 0

    def learn(self) -> tuple[int, ...]:
        """Work out where all low bytes are taken, once a piece is met again; names and times never are."""
        self._times += 1
        if self._times < _MET:
            return ()
        states = _EACH_LOW
        for byte in self.text:
            states = ((states ^ byte * _ONES) * _PRIME) & _MASKS
        self.ends = tuple(memoryview(states.to_bytes(256 * 8, "little")).cast("Q"))
        return self.ends


_MET: Final = 3
"""From so many times on a piece is taken for a constant one."""
_ONES: Final = sum(1 << 64 * lane for lane in range(256))
"""A one in each of 256 lanes of 64 bits, in which as many hashes are worked out at once; a product needs 57 bits."""
_EACH_LOW: Final = sum(lane << 64 * lane for lane in range(256))
_MASKS: Final = _MASK * _ONES


@lru_cache(maxsize=2048)
def _effect(piece: str) -> _Effect:
    return _Effect(piece.encode())


def _pieces(template: Object, schema: DumpStruct) -> list[str]:
    out = [f"({schema.text})"]
    _struct(template, schema, out)
    return out


class _Plan:
    """How to dump one struct: the text of the all-zero struct, and where each member stands in it."""

    __slots__ = ("inlined", "members", "zero")

    def __init__(self, struct: DumpStruct) -> None:
        text = "{"
        self.members: dict[str, tuple[int, int, int, DumpType]] = {}
        self.inlined: list[tuple[int, int, DumpStruct, frozenset[str]]] = []
        for field in struct.members:
            text += f"{'' if text == '{' else ' '}{field.go}:"
            start = len(text) + len(f"({field.type.text})")
            text += _zero(field.type)
            if field.inline:
                inner = field.type.struct
                self.inlined.append((start, len(text), inner, frozenset(_json_names(inner))))
            else:
                self.members[field.json] = (len(self.members), start, len(text), field.type)
        self.zero = text + "}"


def _json_names(struct: DumpStruct) -> list[str]:
    names: list[str] = []
    for field in struct.members:
        names.extend(_json_names(field.type.struct) if field.inline else [field.json])
    return names


@lru_cache(maxsize=512)
def _plan(struct: DumpStruct) -> _Plan:
    return _Plan(struct)


def _zero(type_: DumpType) -> str:
    """Return the dump of a type's zero value, with the type in front."""
    kind, head = type_.kind, f"({type_.text})"
    if kind == "string":
        return head
    if kind == "bool":
        return head + "false"
    if kind in ("int32", "int64", "float64"):
        return head + "0"
    return head + _zero_struct(type_.struct) if kind == "struct" else head + "<nil>"


def _zero_struct(struct: DumpStruct) -> str:
    special = struct.special
    if special == "quantity":
        return _NO_QUANTITY
    if special == "intOrString":
        return "{Type:(intstr.Type)0 IntVal:(int32)0 StrVal:(string)}"
    if special in ("time", "microTime"):
        return f"{{Time:{_NO_TIME}}}"
    return "{Duration:(time.Duration)0}" if special == "duration" else _plan(struct).zero


def _struct(value: Object, struct: DumpStruct, out: list[str]) -> None:
    plan = _plan(struct)
    changes: list[tuple[int, int, DumpType | DumpStruct, Any]] = []
    members = plan.members
    for name, item in value.items():
        member = members.get(name)
        if member is not None and item is not None:
            changes.append((member[1], member[2], member[3], item))
    for start, end, inner, names in plan.inlined:
        if not names.isdisjoint(value):
            changes.append((start, end, inner, value))
    zero, at = plan.zero, 0
    changes.sort(key=_start)
    for start, end, type_, item in changes:
        out.append(zero[at:start])
        if item is value:  # an inlined struct: only those were given the value itself
            _struct(value, type_, out)  # type: ignore[arg-type]
        else:
            _value(item, type_, out)  # type: ignore[arg-type]
        at = end
    out.append(zero[at:])


def _start(change: tuple[int, int, Any, Any]) -> int:
    return change[0]


def _value(value: Any, type_: DumpType, out: list[str]) -> None:
    """Write a value without its type, which the text in front of it has already given."""
    kind = type_.kind
    if kind == "string":
        out.append(value)
    elif kind == "bool":
        out.append("true" if value else "false")
    elif kind in ("int32", "int64"):
        out.append(str(value))
    elif kind == "ptr" and type_.element is not None:
        _value(value, type_.element, out)
    elif kind == "struct":
        struct = type_.struct
        if struct.special:
            out.append(_special(value, struct))
        else:
            _struct(value, struct, out)
    elif kind == "slice" and type_.element is not None:
        _list(value, type_.element, out)
    elif kind == "map" and type_.element is not None:
        _map(value, type_.element, out)
    else:
        out.append(str(value))


def _list(items: list[Any], element: DumpType, out: list[str]) -> None:
    opening = "["
    for item in items:
        out.append(opening)
        if item is None:
            out.append(_zero(element).removeprefix(f"({element.text})"))
        else:
            _value(item, element, out)
        opening = " "
    out.append("]" if items else "[]")


def _map(items: dict[str, Any], element: DumpType, out: list[str]) -> None:
    opening = "map["
    for key in sorted(items):
        out.append(f"{opening}{key}:")
        _value(items[key], element, out)
        opening = " "
    out.append("]" if items else "map[]")


def _special(value: Any, struct: DumpStruct) -> str:
    special = struct.special
    if special == "quantity":
        return _quantity(value)
    if special == "intOrString":
        if isinstance(value, str):
            return f"{{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string){value}}}"
        return f"{{Type:(intstr.Type)0 IntVal:(int32){value} StrVal:(string)}}"
    return _zero_struct(struct)


@lru_cache(maxsize=4096)
def _quantity(value: str | int) -> str:
    try:
        quantity = from_value(value)
    except QuantityError:
        return _NO_QUANTITY
    kept = quantity.text
    if kept == "0":
        return _QUANTITY.format(value=0, scale=0, text="0", format="")
    format_ = quantity.format.value
    if quantity.is_big:
        magnitude, words = abs(quantity.unscaled), []
        while magnitude:
            words.append(str(magnitude & (2**64 - 1)))
            magnitude >>= 64
        negative = "true" if quantity.unscaled < 0 else "false"
        return _BIG_QUANTITY.format(
            negative=negative, words=" ".join(words), scale=-quantity.exponent, format=format_
        )
    return _QUANTITY.format(value=quantity.unscaled, scale=quantity.exponent, text=kept or "", format=format_)


def revision_hash(data: Object, collision_count: int | None) -> str:
    """Return the hash in the name of a StatefulSet's ControllerRevision, from the revision's `data`.

    `collision_count` is the set's `status.collisionCount`. A DaemonSet's revisions take `compute_hash`.

    Source: pkg/controller/history HashControllerRevision (FNV-1, not 1a); tests/golden/l2/facts/hashes.
    """
    state = _OFFSET
    probe = "" if collision_count is None else str(collision_count)
    for byte in (to_compact_json(data) + probe).encode():
        state = (state * _PRIME & _MASK) ^ byte
    return safe_encoded(str(state))
