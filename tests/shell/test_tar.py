"""tar: what is packed is unpacked the same, nothing leaves its directory, and no archive does harm."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.shell.context import FileSystem, Process
from env_core.shell.pipeline import Shell


def shell(files=None, stdin="", flavour="busybox"):
    process = Process(stdin=stdin, fs=FileSystem(files or {}), cwd="/", flavour=flavour)
    return process, Shell(process, {})


def as_text(data):
    return data.decode("utf-8", "surrogateescape")


def archive(*members):
    """Return an archive of members with their contents."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return data.getvalue()


def test_unpacks_what_it_packed():
    files = {"/srv/a.txt": "alpha\n", "/srv/deep/b.txt": "beta\n", "/srv/deep/empty": ""}
    _, source = shell(files)
    packed = source.run("tar cf - -C /srv .")
    process, target = shell(stdin=packed.stdout)
    assert target.run("mkdir /to && tar xf - -C /to").exit_code == 0
    assert {path: process.fs.read(path.replace("/srv", "/to")) for path in files} == files


def test_keeps_bytes_that_are_no_text():
    content = bytes(range(256))
    process, target = shell(stdin=as_text(archive(("raw", content))))
    assert target.run("tar xmf - -C /").exit_code == 0
    assert process.fs.read("/raw").encode("utf-8", "surrogateescape") == content


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../etc/passwd"])
def test_never_leaves_its_directory(name):
    process, target = shell({"/etc/passwd": "root\n"}, stdin=as_text(archive((name, b"bad\n"))))
    target.run("mkdir /to && tar xf - -C /to")
    assert process.fs.read("/etc/passwd") == "root\n"


def test_says_what_is_not_there():
    _, target = shell()
    assert target.run("tar cf - missing").stderr == (
        "tar: missing: No such file or directory\ntar: error exit delayed from previous errors\n"
    )
    assert target.run("tar cf - -C /nowhere .").stderr == (
        "tar: can't change directory to '/nowhere': No such file or directory\n"
    )


def header(size, kind=tarfile.REGTYPE):
    """Return the head of a member of any size."""
    member = tarfile.TarInfo("x")
    member.type = kind
    head = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    head[124:136] = b"\xff" + size.to_bytes(11, "big", signed=True) if size < 0 else b"%011o\0" % size
    head[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(head))[0]
    return bytes(head)


def sparse():
    """Return the head of a member that is nothing but a hole of 8 GiB."""
    head = bytearray(header(0, tarfile.GNUTYPE_SPARSE))
    head[483:495] = b"%011o\0" % (8**11 - 1)
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(head))[0]
    return bytes(head)


@pytest.mark.parametrize(
    "data",
    [
        header(-512),
        header(-1024) + header(0),
        header(8**11 - 1),
        sparse(),
        header(4, tarfile.GNUTYPE_LONGNAME) * 2_000,
        b"no archive at all" * 100,
    ],
    ids=["less than none", "back to the start", "cut off", "a hole", "names of names", "text"],
)
def test_no_archive_does_harm(data):
    _, target = shell(stdin=as_text(data + bytes(1024)))
    output = target.run("tar xf - -C /")
    assert (output.exit_code, output.stderr) == (1, "tar: short read\n")


WHOLE = archive(("a/b", b"content\n" * 80), ("c", b""), ("d" * 120, b"x"))


@given(st.dictionaries(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), min_size=1, max_size=6))
def test_any_damage_is_answered(damage):
    packed = bytearray(WHOLE)
    for at, byte in damage.items():
        packed[at] = byte
    _, target = shell(stdin=as_text(bytes(packed)))
    assert target.run("tar xf - -C /").exit_code in (0, 1)
