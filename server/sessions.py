"""The table of sessions: who holds which episode, how many there may be, and when one that nobody uses ends."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

from server.environment import Frame, KubeEnvironment
from server.journal import Recipe
from server.refusals import Refusal, expired, not_started
from server.settings import Settings

HTTP = "http"
WEBSOCKET = "ws"
UNTOUCHED_S = 10.0
"""At capacity, an HTTP episode without a single step may be ended after this; a health probe leaves such behind."""
CHANGES_MAX = 512
ENDED_MAX = 4_096
RETRY_AFTER_S_MAX = 30


def derived(token: str, purpose: str) -> str:
    """Return what follows from an episode's token and does not give it away, in hexadecimal digits."""
    return hmac.new(token.encode(), f"kubernetes {purpose}".encode(), hashlib.sha256).hexdigest()


class Session:
    """One slot of the table. It has an episode once a reset has succeeded."""

    __slots__ = (
        "_changed",
        "alias",
        "changes",
        "channel",
        "elapsed_ms",
        "environment",
        "episode_id",
        "error_id",
        "holder",
        "is_done",
        "key",
        "latest",
        "lock",
        "peer",
        "recipe",
        "steps",
        "token",
        "touched_s",
    )

    def __init__(self, key: int, channel: str, peer: str, now_s: float) -> None:
        self.key = key
        self.channel = channel
        self.peer = peer
        self.touched_s = now_s
        self.environment = KubeEnvironment()
        self.episode_id = ""
        self.token = ""
        self.alias = ""
        """The name by which its Kubernetes API calls it: by the id alone, one could step and reset it."""
        self.latest: Frame | None = None
        self.holder: object | None = None
        """The connection that drives it; None for HTTP, and after a socket is lost."""
        self.is_done = False
        self.steps = 0
        self.error_id = ""
        """Set when a failure of ours has ended the episode."""
        self.recipe: Recipe | None = None
        """What the journal needs to play the episode again; None once it has been."""
        self.changes: deque[dict[str, Any]] = deque(maxlen=CHANGES_MAX)
        """The newest steps, for those who watch: number and action."""
        self.lock = asyncio.Lock()
        self.elapsed_ms = 0
        """Time that has passed by itself since the last record of it."""
        self._changed: asyncio.Event | None = None

    def took(self, frame: Frame) -> None:
        """Note a step that it has taken."""
        self.steps += 1
        self.latest = frame
        self.changes.append({"step": self.steps, "action": frame.observation.get("last_action", "")})
        self.is_done = self.is_done or frame.done

    def changed(self) -> asyncio.Event:
        """Return what the next action sets, for those who watch."""
        if self._changed is None:
            self._changed = asyncio.Event()
        return self._changed

    def note_change(self) -> None:
        """Wake those who watch."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def has_token(self, token: str) -> bool:
        """Whether a token is its own, told in constant time."""
        return hmac.compare_digest(self.token.encode(), token.encode())

    @property
    def is_attached(self) -> bool:
        """Whether a socket is connected to it."""
        return self.holder is not None

    @property
    def is_live(self) -> bool:
        """Whether it has an episode that can still be played."""
        return bool(self.episode_id) and not self.is_done and not self.error_id


class SessionTable:
    """Sessions by episode id and by token; bounded, and swept by idle time. Times are seconds of a monotonic clock."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.monotonic,
        on_end: Callable[[Session], None] | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._on_end = on_end
        self._keys = itertools.count(1)
        self._sessions: dict[int, Session] = {}
        self._http: dict[str, Session] = {}
        self._by_id: dict[str, list[Session]] = {}
        self._aliases: dict[str, Session] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self.refused = 0
        self.ended_idle = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions.values())

    @property
    def episodes_live(self) -> int:
        """How many episodes can still be played."""
        return sum(1 for session in self if session.is_live)

    def now_s(self) -> float:
        """Return the table's time in seconds."""
        return self._clock()

    def open(self, channel: str, peer: str) -> Session:
        """Take a slot.

        At capacity, an episode that is over, or that nobody is connected to and nobody has used for a while, gives way.

        Raises:
            Refusal: if every slot is in use (503), or this address holds its share (429); both say when to try again.
        """
        share = self._settings.episodes_per_peer_max
        if share and sum(1 for session in self if session.peer == peer and not session.is_done) >= share:
            self.refused += 1
            raise Refusal(
                429,
                "TOO_MANY_EPISODES",
                f"this address holds {share} episodes; end one of them first",
                retry_after_s=self._retry_after_s(),
            )
        if len(self._sessions) >= self._settings.episodes_max or self._is_memory_short():
            victim = self._dispensable()
            if victim is None:
                self.refused += 1
                raise self._full()
            self.end(victim, "the server was full and the episode was idle")
        return self._add(channel, peer)

    def restore(
        self, channel: str, *, episode_id: str, token: str, recipe: Recipe, is_done: bool, steps: int
    ) -> Session:
        """Take a slot for an episode of the journal, whatever the capacity: it was admitted once."""
        session = self._add(channel, "")
        session.recipe = recipe
        session.is_done = is_done
        session.steps = steps
        self._register(session, episode_id, token)
        return session

    def bind(self, session: Session, episode_id: str) -> None:
        """Name the session after the episode that it has just begun, and give it a token of its own.

        Over HTTP an id names one episode at a time: the one before it ends.
        """
        before = self._http.get(episode_id) if session.channel == HTTP else None
        if before is not None and before is not session:
            self.end(before, "it was reset")
        self._unregister(session)
        session.is_done = False
        session.error_id = ""
        session.steps = 0
        session.changes.clear()
        self._register(session, episode_id, secrets.token_urlsafe(24))

    def touch(self, session: Session) -> None:
        """Note that the session is in use."""
        session.touched_s = self._clock()

    def end(self, session: Session, why: str) -> None:
        """Free the slot. Whoever comes for the episode later is told why it is gone."""
        if self._sessions.pop(session.key, None) is None:
            return
        self._unregister(session)
        if session.episode_id:
            if session.channel == HTTP or not session.is_attached:
                self._ended[session.episode_id] = why
                while len(self._ended) > ENDED_MAX:
                    self._ended.popitem(last=False)
            if self._on_end is not None:
                self._on_end(session)
        session.environment.close()
        session.latest = None

    def is_open(self, session: Session) -> bool:
        """Whether the session still has its slot."""
        return session.key in self._sessions

    def over_http(self, episode_id: str, token: str, peer: str) -> Session:
        """Return the session that an HTTP request means.

        With no id: the only live HTTP episode; with none live, the one that this address used last. A WebSocket's episode needs its token.

        Raises:
            Refusal: if there is none (409, 404), more than one (409), or it is gone (410).
        """
        if not episode_id:
            return self._unnamed(peer)
        session = self._http.get(episode_id)
        if session is not None:
            return session
        # Without its token a WebSocket's episode does not exist: the answer must not tell which ids are in use.
        return self.by_token(episode_id, token)

    def http_session(self, episode_id: str) -> Session | None:
        """Return the HTTP session that has this id, if one does."""
        return self._http.get(episode_id)

    def named(self, episode_id: str) -> tuple[Session, ...]:
        """Return the sessions with this id: at most one over HTTP, any number over WebSockets."""
        return tuple(self._by_id.get(episode_id, ()))

    def known_as(self, name: str) -> tuple[Session, ...]:
        """Return the session that has this alias, and those that have this id."""
        found = self._aliases.get(name)
        return (*(() if found is None else (found,)), *self.named(name))

    def by_token(self, episode_id: str, token: str) -> Session:
        """Return the session with this id and token.

        Raises:
            Refusal: if there is none (404), or it is gone (410).
        """
        for session in self._by_id.get(episode_id, ()):
            if session.has_token(token):
                return session
        raise self._gone(episode_id)

    def sweep(self) -> int:
        """End what has been idle for too long and return how many that were."""
        limit = self._clock() - self._settings.idle_s_max
        idle = [session for session in self if session.touched_s < limit]
        for session in idle:
            self.end(session, f"it was idle for more than {self._settings.idle_s_max:g} s")
        self.ended_idle += len(idle)
        return len(idle)

    def _add(self, channel: str, peer: str) -> Session:
        session = Session(next(self._keys), channel, peer, self._clock())
        self._sessions[session.key] = session
        return session

    def _register(self, session: Session, episode_id: str, token: str) -> None:
        session.episode_id = episode_id
        session.token = token
        session.alias = derived(token, "name")[:24]
        self._aliases[session.alias] = session
        self._by_id.setdefault(episode_id, []).append(session)
        if session.channel == HTTP:
            self._http[episode_id] = session
        self._ended.pop(episode_id, None)

    def _unregister(self, session: Session) -> None:
        self._aliases.pop(session.alias, None)
        session.alias = ""
        held = self._by_id.get(session.episode_id)
        if held and session in held:
            held.remove(session)
            if not held:
                del self._by_id[session.episode_id]
        if self._http.get(session.episode_id) is session:
            del self._http[session.episode_id]

    def _unnamed(self, peer: str) -> Session:
        live = [session for session in self._http.values() if session.is_live]
        if len(live) == 1:
            return live[0]
        if live:
            raise Refusal(
                409,
                "EPISODE_AMBIGUOUS",
                f"{len(live)} HTTP episodes are live; send the episode_id that reset returned, as header X-Episode-Id, query or body field",
            )
        own = [session for session in self._http.values() if session.peer in (peer, "")]
        if not own:
            raise not_started()
        return max(own, key=lambda session: session.touched_s)

    def _gone(self, episode_id: str) -> Refusal:
        why = self._ended.get(episode_id)
        if why is not None:
            return expired(why)
        return Refusal(
            404,
            "UNKNOWN_EPISODE",
            "no such episode; use the episode_id that reset returned (over HTTP a WebSocket's needs its X-Episode-Token)",
        )

    def _dispensable(self) -> Session | None:
        now_s = self._clock()
        best: tuple[int, float, Session] | None = None
        for session in self:
            idle_s = now_s - session.touched_s
            if session.is_attached:
                continue
            if not session.is_live:
                rank = 0
            elif session.channel == HTTP and session.steps == 0 and idle_s >= UNTOUCHED_S:
                rank = 1
            elif idle_s >= self._settings.grace_s:
                rank = 2
            else:
                continue
            if best is None or (rank, -idle_s) < best[:2]:
                best = (rank, -idle_s, session)
        return best[2] if best is not None else None

    def _full(self) -> Refusal:
        active, bound = len(self._sessions), self._settings.episodes_max
        return Refusal(
            503,
            "CAPACITY_REACHED",
            f"Server at capacity: {active}/{bound} sessions active. Cannot accept new connections.",
            retry_after_s=self._retry_after_s(),
            active_sessions=active,
            max_sessions=bound,
        )

    def _retry_after_s(self) -> int:
        now_s = self._clock()
        waits = [
            self._settings.grace_s - (now_s - session.touched_s)
            for session in self
            if not session.is_attached
        ]
        return max(1, min(RETRY_AFTER_S_MAX, int(min(waits, default=RETRY_AFTER_S_MAX)) + 1))

    def _is_memory_short(self) -> bool:
        return bool(self._settings.memory_mb_max) and resident_mb() > self._settings.memory_mb_max


def resident_mb() -> float:
    """Return this process's resident memory in MiB; 0.0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as source:
            return int(source.read().split()[1]) * 4_096 / 1_048_576
    except OSError:
        return 0.0
