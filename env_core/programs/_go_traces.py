"""What Go's runtime prints when a program dies: panics with their goroutines, fatal errors, an overflown stack.

The frames are those of the recorded service. Source: tests/golden/programs/app-go (go.panic*, go.nilmap, go.deadlock, go.race, go.stack).
"""

from __future__ import annotations

from typing import Final

from env_core.programs import _go_values as values
from env_core.programs._http import slash_date
from env_core.programs._model import Line

_MAIN: Final = "\tshop.example.com/api/main.go"
_FRAMES_TOP: Final = 50
_FRAMES_BOTTOM: Final = 50


def _panic(text: str, line: int) -> tuple[str, ...]:
    return f"panic: {text}", "", "goroutine 1 [running]:", "main.main()", f"{_MAIN}:{line} +0x5c7"


TRACES: Final[dict[str, tuple[str, ...]]] = {
    "panic": _panic("cannot start: no leader", 141),
    "panic-err": _panic("open /etc/app/config.yaml: no such file or directory", 144),
    "nilmap": _panic(values.PANICS["nil map"], 146),
    "index": _panic(values.index_panic(3, 0), 149),
    "deadlock": (
        "fatal error: all goroutines are asleep - deadlock!",
        "",
        "goroutine 1 [sync.WaitGroup.Wait]:",
        "sync.runtime_SemacquireWaitGroup(0x10?, 0x80?)",
        "\truntime/sema.go:114 +0x2e",
        "sync.(*WaitGroup).Wait(0xc000012345)",
        "\tsync/waitgroup.go:206 +0x85",
        "main.main()",
        f"{_MAIN}:153 +0x8fd",
    ),
    "race": (
        "fatal error: concurrent map writes",
        "",
        "goroutine 20 [running]:",
        "internal/runtime/maps.fatal({0x73cd000?, 0x0?})",
        "\truntime/panic.go:1181 +0x18",
        "main.main.func6()",
        f"{_MAIN}:159 +0x3d",
        "created by main.main in goroutine 1",
        f"{_MAIN}:157 +0x8c8",
    ),
}
"""By the mode of the service that dies so."""


def request_panic(at_ms: int, client: str) -> tuple[Line, ...]:
    """Return what net/http's server logs of a handler that dereferenced nil: the service goes on."""
    texts = (
        f"{slash_date(at_ms)} http: panic serving {client}: {values.PANICS['nil pointer']}",
        "goroutine 5 [running]:",
        "net/http.(*conn).serve.func1()",
        "\tnet/http/server.go:1897 +0xbd",
        "panic({0x73cd00?, 0xa73e10?})",
        "\truntime/panic.go:860 +0x13a",
        "main.main.func2({0x7c8078?, 0xc00019a000}, 0xc00010fb00?)",
        f"{_MAIN}:63 +0x45",
        "net/http.HandlerFunc.ServeHTTP(0xc000190000?, {0x7c8078?, 0xc00019a000?}, 0xc00010fb00?)",
        "\tnet/http/server.go:2286 +0x29",
        "net/http.(*ServeMux).ServeHTTP(0x47cd00?, {0x7c8078, 0xc00019a000}, 0xc000192000)",
        "\tnet/http/server.go:2828 +0x1c7",
        "net/http.serverHandler.ServeHTTP({0xc00018e000?}, {0x7c8078?, 0xc00019a000?}, 0x1?)",
        "\tnet/http/server.go:3311 +0x8e",
        "net/http.(*conn).serve(0xc000194000, {0x7c8590, 0xc00018c000})",
        "\tnet/http/server.go:2067 +0x650",
        "created by net/http.(*Server).Serve in goroutine 1",
        "\tnet/http/server.go:3464 +0x485",
    )
    return tuple(Line(at_ms, text, "stderr") for text in texts)


def goroutine_panic() -> tuple[str, ...]:
    """Return what a panic in a goroutine of its own prints: nothing recovers it, and the process dies."""
    return (
        f"panic: {values.PANICS['nil map']}", "", "goroutine 7 [running]:", "main.main.func3.1()", f"{_MAIN}:64 +0x2d",
        "created by main.main.func3 in goroutine 5", f"{_MAIN}:64 +0x1a",
    )  # fmt: skip


def stack_overflow() -> tuple[str, ...]:
    """Return what endless recursion prints. The arguments of frames are by chance, so that no two dumps are equal."""
    place = "fp=0xc020160398 sp=0xc020160388 pc=0x6f5f3d"
    head = (
        "runtime: goroutine stack exceeds 1000000000-byte limit",
        "runtime: sp=0xc020160380 stack=[0xc020160000, 0xc040160000]",
        "fatal error: stack overflow",
        "",
        "runtime stack:",
        "runtime.throw({0x73f0aa?, 0x7fff00000000?})",
        "\truntime/panic.go:1229 +0x48 fp=0x7ffd2f3f0c38 sp=0x7ffd2f3f0c08 pc=0x478d08",
        "runtime.newstack()",
        "\truntime/stack.go:1207 +0x5fd fp=0x7ffd2f3f0d70 sp=0x7ffd2f3f0c38 pc=0x45e23d",
        "runtime.morestack()",
        "\truntime/asm_amd64.s:681 +0x7d fp=0x7ffd2f3f0d78 sp=0x7ffd2f3f0d70 pc=0x47e07d",
        "",
        "goroutine 1 gp=0xc000002380 m=3 mp=0xc000073008 [running]:",
    )
    frame = ("main.main.func7(0x0?)", f"{_MAIN}:175 +0x1d {place}")
    tail = (
        "main.main()", f"{_MAIN}:176 +0x4c7 {place}", "runtime.main()", f"\truntime/proc.go:290 +0x2d5 {place}",
        "runtime.goexit({})", f"\truntime/asm_amd64.s:1771 +0x1 {place}",
    )  # fmt: skip
    return (*head, *frame * _FRAMES_TOP, "...22369444 frames elided...", *frame * _FRAMES_BOTTOM, *tail)
