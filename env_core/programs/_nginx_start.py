"""How nginx starts: its options, what it says of its configuration, users, certificates, addresses and files.

Source: tests/golden/programs/nginx (nginx.emerg.*, nginx.test.*, nginx.cli.*); nginx src/core/nginx.c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from env_core.objects.x509 import CertificateProblem, certificates, is_key_of
from env_core.programs._nginx_config import MAIN
from env_core.programs._nginx_exchange import Site
from env_core.programs._nginx_model import Config, Settings
from env_core.programs._nginx_signals import logs

_WITH_VALUE: Final = frozenset("pecgs")
_FLAGS: Final = frozenset("?hvVtTq")
_USERS: Final = frozenset({"root", "nginx", "www-data", "nobody", "daemon", "bin", "sys", "mail", "games"})


@dataclass(frozen=True, slots=True)
class Build:
    """What differs between builds of nginx."""

    built_by: str = ""
    """The compiler that the start-up log names; "" when it names none."""
    has_own_log: bool = True
    """Whether the log before the configuration is read is a file of its own (then problems go to stderr, too)."""
    body_path: str = "/var/cache/nginx/client_temp"
    """Where bodies of requests are kept."""
    worker: int = 29
    """The process id of the first worker, after what the entry point of an image has run."""


DEBIAN: Final = Build(has_own_log=False, body_path="/var/lib/nginx/body", worker=7)
"""The package of Debian, which was recorded."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What of a container's network decides whether a port can be had."""

    taken: frozenset[int] = frozenset()
    """Ports that another process listens on."""
    unprivileged_from: int = 0
    """The first port that others than root may listen on; container runtimes set 0."""


@dataclass(slots=True)
class Options:
    """A command line of nginx."""

    main: str = MAIN
    problem: str = ""
    flags: set[str] = field(default_factory=set)
    signal: str = ""
    globals: str = ""


def options_of(argv: tuple[str, ...]) -> Options:
    """Read a command line. Source: nginx src/core/nginx.c ngx_get_options."""
    found = Options()
    position = 1
    while position < len(argv):
        word = argv[position]
        position += 1
        if not word.startswith("-"):
            found.problem = f'invalid option: "{word}"'
            return found
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in _FLAGS:
                found.flags.add(letter)
                continue
            if letter not in _WITH_VALUE:
                found.problem = f'invalid option: "{letter}"'
                return found
            value = letters or (argv[position] if position < len(argv) else "")
            position += not letters
            letters = ""
            if not value:
                found.problem = f'option "-{letter}" requires {_WANTED[letter]}'
                return found
            if letter == "c":
                found.main = value if value.startswith("/") else f"/etc/nginx/{value}"
            elif letter == "g":
                found.globals = value
            elif letter == "s":
                if value not in ("stop", "quit", "reopen", "reload"):
                    found.problem = f'invalid option: "-s {value}"'
                    return found
                found.signal = value
    return found


_WANTED: Final = {
    "p": "directory name", "e": "file name", "c": "file name", "g": "parameter", "s": "parameter",
}  # fmt: skip


@dataclass(slots=True)
class Started:
    """What a start says, and whether it fails."""

    stamp: str
    lines: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    """What goes to standard output."""
    code: int | None = None

    def say(self, level: str, text: str, *, doubled: bool = False) -> None:
        """Log a message; doubled ones go to stderr as well."""
        self.lines.append(f"{self.stamp} [{level}] 1#1: {text}")
        if doubled:
            self.lines.append(f"nginx: [{level}] {text}")

    def fail(self, text: str, *, doubled: bool) -> None:
        """Log why it does not start."""
        self.say("emerg", text, doubled=doubled)
        self.code = 1


def begin(
    options: Options, site: Site | str, version: str, build: Build, stamp: str, *, user: int, is_read_only: bool,
    own_address: str, files: Mapping[str, str], workers: range, ports: Ports,
) -> Started:  # fmt: skip
    """Return what a start says up to the workers, and its exit code when it is over then."""
    started = Started(stamp)
    is_test = bool(options.flags & {"t", "T"})
    if options.problem:
        started.lines.append(f"nginx: {options.problem}")
        started.code = 1
        return started
    if "v" in options.flags or "V" in options.flags:
        started.lines.append(f"nginx version: nginx/{version}")
        started.code = 0
        return started
    problem = site if isinstance(site, str) else _problem(site.config, files, user, started)
    if problem:
        started.fail(problem, doubled=build.has_own_log)
        if is_test:
            started.lines.append(f"nginx: configuration file {options.main} test failed")
        return started
    assert not isinstance(site, str)
    config = site.config
    pid = config.main.get("pid", (("/var/run/nginx.pid",),))[-1][0]
    if options.signal:
        started.say("notice", "signal process started")
        started.say("error", f'open() "{pid}" failed (2: No such file or directory)')
        started.code = 1
        return started
    if is_test:
        started.lines += [
            f"nginx: the configuration file {options.main} syntax is ok",
            f"nginx: configuration file {options.main} test is successful",
        ]
        if "T" in options.flags:
            started.printed += dumped(site).split("\n")[:-1]
        started.code = 0
        return started
    _serve(started, config, build, version, pid, user, is_read_only, own_address, workers, ports)
    return started


def dumped(site: Site) -> str:
    """Return what `nginx -T` prints: every file of the configuration, as they are read."""
    return "".join(f"# configuration file {path}:\n{site.files[path]}\n" for path in site.config.order)


def _problem(config: Config, files: Mapping[str, str], user: int, started: Started) -> str:
    """Return what stops nginx while it reads its configuration, beside its grammar."""
    owner = config.main.get("user")
    where = config.places.get("user", "")
    if owner and user:
        text = 'the "user" directive makes sense only if the master process runs with super-user privileges, ignored'
        started.say("warn", f"{text} in {where}")
    elif owner and owner[-1][0] not in _USERS:
        return f'getpwnam("{owner[-1][0]}") failed in {where}'
    for server in config.servers:
        has_tls = any("ssl" in words for words in server.settings.get("listen", ()))
        for name, what in (("ssl_certificate", "certificate"), ("ssl_certificate_key", "certificate key")):
            for words in server.settings.get(name, ()) if has_tls else ():
                path = words[0] if words[0].startswith("/") else f"/etc/nginx/{words[0]}"
                if path not in files and "$" not in path and not path.startswith("data:"):
                    return (
                        f'cannot load {what} "{path}": BIO_new_file() failed (SSL: error:80000002:system library::No such file'
                        f" or directory:calling fopen({path}, r) error:10000080:BIO routines::no such file)"
                    )
        problem = _key_problem(server.settings, files) if has_tls else ""
        if problem:
            return problem
    return ""


def _key_problem(settings: Settings, files: Mapping[str, str]) -> str:
    """Return what OpenSSL says of a key that is not the one of its certificate, "" when it is, as far as one can tell."""
    certificate, key = (
        "".join(
            files.get(path, "") for path in (words[-1][0] for words in (settings.get(name, ()),) if words)
        )
        for name in ("ssl_certificate", "ssl_certificate_key")
    )
    try:
        chain = certificates(certificate)
    except CertificateProblem:
        return ""
    if not chain or is_key_of(key, chain[0]):
        return ""
    path = settings["ssl_certificate_key"][-1][0]
    mismatch = "SSL: error:05800074:x509 certificate routines::key values mismatch"
    return f'SSL_CTX_use_PrivateKey("{path}") failed ({mismatch})'


def _serve(
    started: Started, config: Config, build: Build, version: str, pid: str, user: int, is_read_only: bool,
    own_address: str, workers: range, ports: Ports,
) -> None:  # fmt: skip
    words = config.main.get("error_log", (("", "error"),))[-1]
    level = words[1] if len(words) > 1 else "error"
    doubled = words[0] != "stderr"
    for text in config.warnings:
        started.say("warn", text)
    for server in config.servers:
        for host, port in server.listens:
            problem = _bind_problem(host, port, user, own_address, ports)
            if not problem:
                continue
            text = f"bind() to {host or '0.0.0.0'}:{port} failed ({problem})"
            if not problem.startswith("98"):
                started.fail(text, doubled=doubled)
                return
            for _ in range(5):
                started.say("emerg", text, doubled=doubled)
                started.say("notice", "try again to bind() after 500ms")
            started.fail("still could not bind()", doubled=doubled)
            return
    notices = [
        'using the "epoll" event method', f"nginx/{version}", *([f"built by {build.built_by}"] if build.built_by else []),
        "OS: Linux 6.8.0-60-generic", "getrlimit(RLIMIT_NOFILE): 1048576:1048576",
    ]  # fmt: skip
    is_heard = logs(level, "notice")
    for text in notices if is_heard else ():
        started.say("notice", text)
    if user and not pid.startswith("/tmp/"):
        started.fail(f'open() "{pid}" failed (13: Permission denied)', doubled=doubled)
        return
    if is_read_only and not pid.startswith(("/tmp/", "/dev/shm/")):
        started.fail(f'open() "{pid}" failed (30: Read-only file system)', doubled=doubled)
        return
    if is_heard:
        started.say("notice", "start worker processes")
        for each in workers:
            started.say("notice", f"start worker process {each}")


def _bind_problem(host: str, port: int, user: int, own_address: str, ports: Ports) -> str:
    if not port:
        return ""
    if host.replace(".", "").isdigit() and host and not host.startswith("127.") and host != own_address:
        return "99: Cannot assign requested address"
    if user and port < ports.unprivileged_from:
        return "13: Permission denied"
    if port in ports.taken:
        return "98: Address already in use"
    return ""
