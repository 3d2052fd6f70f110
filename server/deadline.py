"""A wall-clock deadline around computation that runs on the event loop's own thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class DeadlineExceeded(BaseException):
    """Raised inside the computation when its time is up. No handler for `Exception` on the way can swallow it."""


def _ring(number: int, frame: FrameType | None) -> None:
    raise DeadlineExceeded


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Give up on the body after so many seconds of wall time; 0 sets no bound.

    The signal reaches the main thread only, so elsewhere there is no bound. What the body was doing is left half done: drop it.

    Raises:
        DeadlineExceeded: when the time is up.
    """
    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
