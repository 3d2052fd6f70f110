"""A wall-clock deadline around computation that runs on the event loop's own thread."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType

_LOOK_S = 0.1
_MAIN = threading.main_thread().ident


class DeadlineExceeded(BaseException):
    """Raised inside the computation when its time is up. No handler for `Exception` on the way can swallow it."""


class _Watchdog:
    """Looks at the clock from a thread of its own and rings the main thread, so that a step pays no system call."""

    def __init__(self) -> None:
        self.due_s: float | None = None
        self._is_running = False

    def start(self) -> None:
        """Begin to look, once."""
        if not self._is_running:
            self._is_running = True
            signal.signal(signal.SIGALRM, self._ring)
            threading.Thread(target=self._look, name="deadline", daemon=True).start()

    def _look(self) -> None:
        assert _MAIN is not None
        while True:
            time.sleep(_LOOK_S)
            due_s = self.due_s
            if due_s is not None and time.monotonic() >= due_s:
                signal.pthread_kill(_MAIN, signal.SIGALRM)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        # The computation may have ended, and another begun, since the bell was pulled.
        due_s = self.due_s
        if due_s is not None and time.monotonic() >= due_s:
            self.due_s = None
            raise DeadlineExceeded


_watchdog = _Watchdog()


class deadline:  # noqa: N801 - reads as the keyword that it is: `with deadline(seconds):`
    """Give up on the body after so many seconds of wall time (and up to 0.1 s more); 0 sets no bound.

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
