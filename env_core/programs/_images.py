"""Image references and what the bases of images hold: which commands `exec` and a container's argv can start."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from env_core.programs._model import Image

_DOCKER_HOSTS: Final = ("docker.io/", "index.docker.io/", "registry-1.docker.io/")

_BUSYBOX: Final = (
    "[ [[ arch arp ash awk base64 basename bc bunzip2 bzcat bzip2 cal cat chgrp chmod chown chroot cksum clear cmp comm"
    " cp cpio crond crontab cut date dc dd df diff dirname dmesg dnsdomainname dos2unix du echo egrep env expand expr"
    " factor fallocate false fgrep find flock fold free fsync fuser getopt getty grep groups gunzip gzip head hexdump"
    " hostid hostname hwclock id ifconfig install ip ipaddr iproute kill killall less link ln logger login ls lsof"
    " md5sum mkdir mkfifo mknod mktemp more mount mv nc netstat nice nl nohup nproc nslookup od passwd paste pgrep"
    " pidof ping ping6 pipe_progress pkill pmap printenv printf ps pstree pwd readlink realpath renice reset rev rm"
    " rmdir route run-parts sed seq setsid sh sha1sum sha256sum sha512sum shred shuf sleep sort split stat strings stty"
    " su sum sync sysctl tac tail tar tee telnet test time timeout top touch tr traceroute true truncate tty umount"
    " uname unexpand uniq unix2dos unlink unzip uptime usleep vi watch wc wget which who whoami xargs xxd yes zcat"
)
BUSYBOX_APPLETS: Final = frozenset(_BUSYBOX.split())
"""Source: tests/golden/programs/busybox-upstream (busybox 1.35, default configuration); Alpine's list is the same but for few."""

_DEBIAN: Final = (
    "[ arch awk base64 basename bash cat chgrp chmod chown chroot cksum comm cp csplit cut dash date dd df diff dir"
    " dirname du echo egrep env expand expr factor false fgrep find fold getent getopt grep groups gunzip gzip head"
    " hostname id install join kill link ln login ls lsblk md5sum mkdir mkfifo mknod mktemp more mount mv nice nl nohup"
    " nproc numfmt od paste perl pr printenv printf pwd readlink realpath rm rmdir sed seq sh sha1sum sha256sum"
    " sha512sum shred shuf sleep sort split stat stty su sum sync tac tail tar tee test timeout touch tr true truncate"
    " tty umount uname unexpand uniq unlink uptime wc which whoami xargs yes zcat"
)
DEBIAN_COMMANDS: Final = frozenset(_DEBIAN.split())
"""The essential packages of a slim Debian image: no curl, wget, ps, ping."""


@lru_cache(maxsize=512)
def canonical(reference: str) -> tuple[str, str]:
    """Return the repository, without registry defaults, and the tag ("latest" when none is named)."""
    name = reference.partition("@")[0]
    for host in _DOCKER_HOSTS:
        name = name.removeprefix(host)
    name = name.removeprefix("library/")
    head, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return head + slash + last, tag or "latest"


def image_of(images: Iterable[Image], reference: str) -> Image | None:
    """Return the image that a reference names, or None when no registry has it."""
    repository, tag = canonical(reference)
    for image in images:
        if image.repository == repository and tag in image.tags:
            return image
    return None


def image_or_first(images: tuple[Image, ...], reference: str) -> Image:
    """Return the image that a reference names, or the first one."""
    return image_of(images, reference) or images[0]


@lru_cache(maxsize=512)
def is_musl(reference: str) -> bool:
    """Whether an image's programs use musl libc (Alpine), whose error texts differ from glibc's."""
    repository, tag = canonical(reference)
    return "alpine" in tag or repository in (
        "alpine",
        "curlimages/curl",
        "traefik",
        "hashicorp/http-echo",
        "nginxdemos/hello",
    )


@lru_cache(maxsize=128)
def _commands(base: str, binaries: tuple[str, ...]) -> frozenset[str]:
    if base == "alpine":
        return BUSYBOX_APPLETS | frozenset(binaries)
    if base == "debian":
        return DEBIAN_COMMANDS | frozenset(binaries)
    return frozenset(binaries)


def commands_of(image: Image) -> frozenset[str]:
    """Return the names of the commands in an image's $PATH."""
    return _commands(image.base, image.binaries)


def finds(image: Image, name: str) -> bool:
    """Whether an argv that starts with `name` (bare, or a path) can be run from the image's files."""
    directory, slash, base = name.rpartition("/")
    if not slash:
        return bool(base) and base in commands_of(image)
    if name in image.files:
        return True
    return directory in ("", *PATH) and base in commands_of(image)


PATH: Final = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def start_problem(name: str) -> str:
    """Return runc's text for a command that an image does not have.

    Source: tests/golden/programs/runc (run.missing, run.missing.abs).
    """
    if "/" in name:
        return f'exec: "{name}": stat {name}: no such file or directory'
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'exec: "{quoted}": executable file not found in $PATH'


def create_problem(name: str) -> str:
    """Return containerd's text for a container whose command is not in its image.

    Source: tests/golden/kubelet/state-texts (start-cmd-notfound, start-cmd-nosuchfile).
    """
    return (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
        f"unable to start container process: error during container init: {start_problem(name)}"
    )
