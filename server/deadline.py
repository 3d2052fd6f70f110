"""A wall-clock deadline around computation that runs on the event loop's own thread."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class DeadlineExceeded(BaseException):
    """Raised inside the computation when its time is up. No handler for `Exception` on the way can swallow it."""


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise DeadlineExceeded


def _is_ready() -> bool:
    """Install the handler, once; whether this is the main thread, the only one that the signal reaches."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGALRM) is not _ring:
        signal.signal(signal.SIGALRM, _ring)
    return True


class deadline:  # noqa: N801 - reads as the keyword that it is: `with deadline(seconds):`
    """Give up on the body after so many seconds of wall time; 0 sets no bound.

    Off the main thread there is no bound. What the body was doing is left half done: drop it.

    Raises:
        DeadlineExceeded: when the time is up.
    """

    __slots__ = ("_is_armed", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_armed = False

    def __enter__(self) -> None:
        if self._seconds and _is_ready():
            self._is_armed = True
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        if self._is_armed:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
