"""A wall-clock deadline around computation that runs on the event loop's own thread."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType

_LOOK_S = 0.25
_MAIN = threading.main_thread().ident


class DeadlineExceeded(BaseException):
    """Raised inside the computation when its time is up. No handler for `Exception` on the way can swallow it."""


class _Watchdog:
    """Looks at the clock whenever the kernel's timer rings, so that a step pays no system call.

    The timer is the kernel's and not a thread's: a thread could not run while a C function keeps the interpreter to itself, and
    the long ones (`re`, `sorted`, big integers) look for signals or end.
    """

    def __init__(self) -> None:
        self.due_s: float | None = None
        self._is_running = False

    def start(self) -> None:
        """Begin to look, once."""
        if not self._is_running:
            self._is_running = True
            signal.signal(signal.SIGALRM, self._look)
            signal.siginterrupt(signal.SIGALRM, False)
            signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)

    def _look(self, _number: int, _frame: FrameType | None) -> None:
        due_s = self.due_s
        if due_s is not None and time.monotonic() >= due_s:
            self.due_s = None
            raise DeadlineExceeded


_watchdog = _Watchdog()


class deadline:  # noqa: N801 - reads as the keyword that it is: `with deadline(seconds):`
    """Give up on the body after so many seconds of wall time (and up to 0.25 s more); 0 sets no bound.

    A signal reaches the main thread only, so elsewhere there is no bound. What the body was doing is left half
    done: drop it.

    Raises:
        DeadlineExceeded: when the time is up.
    """

    __slots__ = ("_seconds",)

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        if self._seconds and threading.get_ident() == _MAIN:
            _watchdog.start()
            _watchdog.due_s = time.monotonic() + self._seconds

    def __exit__(self, *_: object) -> None:
        _watchdog.due_s = None
