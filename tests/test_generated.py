"""What is generated is current: the pages of docs, the API's tables; and what the docs name exists."""

import gzip
import re
from pathlib import Path

import pytest

from env_core.apiserver.data import _generate, _generate_defaults, _generate_rbac
from env_core.catalogue import __main__ as catalogue
from env_core.catalogue.pages import PAGES
from env_core.catalogue.seed_names import ALIASES, FILES, LATER

ROOT = Path(__file__).parent.parent
DATA = ROOT / "env_core" / "apiserver" / "data"
WRITTEN = sorted(
    [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "client").glob("*.md"),
        *(ROOT / "training").glob("*.md"),
    ]
)
TOP = ("env_core/", "server/", "client/", "training/", "live/", "tests/", "docs/", ".ci/")
PACKAGES = (
    "apiserver",
    "controllers",
    "dataplane",
    "faults",
    "kinds",
    "kubectl",
    "node",
    "objects",
    "programs",
    "scenarios",
    "scheduler",
    "shell",
    "sim",
    "suites",
    "tools",
    "verify",
)


def relative(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_current(name):
    found = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert found == PAGES[name](), "run `python -m env_core.catalogue docs`"


@pytest.mark.parametrize("name", _generate.TABLES)
def test_tables_are_current(name):
    # The compressed bytes may differ between builds of zlib; what is in them may not.
    packed = (DATA / f"{name}.json.gz").read_bytes()
    assert gzip.decompress(packed) == gzip.decompress(_generate.packed(_generate.TABLES[name]())), (
        "run `make tables`"
    )


def test_the_roles_table_is_current():
    packed = (DATA / "rbac.json.gz").read_bytes()
    assert gzip.decompress(packed) == gzip.decompress(_generate_rbac.build(ROOT / "tests" / "golden")), (
        "run `make tables`"
    )


def test_the_table_of_default_objects_is_current():
    packed = (DATA / "defaults.json.gz").read_bytes()
    assert gzip.decompress(packed) == gzip.decompress(_generate_defaults.build(ROOT / "tests" / "golden")), (
        "run `make tables`"
    )


def targets():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))


@pytest.mark.parametrize("page", WRITTEN, ids=relative)
def test_make_targets_in_prose_exist(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|[`(])make ([a-z][a-z-]*)", text, re.MULTILINE))
    assert sorted(named - targets()) == []


def paths_in(text):
    """Return what stands in backticks and looks like a path of this repository."""
    for words in re.findall(r"`([^`\n]+)`", text):
        word = words.strip().split(" ")[0].split(":")[0]
        if "<" in word or "*" in word or "…" in word or "{" in word:
            continue
        if word.startswith(TOP) or (
            word.endswith((".py", ".md", ".toml", ".yaml", ".txt", ".sh", ".json"))
            and "/" not in word
            and word[0] != "-"
        ):
            yield word
        elif word.split("/")[0] in PACKAGES and ("/" in word):
            yield f"env_core/{word}"


def exists(word):
    return (ROOT / word).exists() or (not word.count("/") and any(ROOT.glob(f"env_core/**/{word}")))


@pytest.mark.parametrize("page", [page for page in WRITTEN if page.name not in PAGES], ids=relative)
def test_paths_in_prose_exist(page):
    named = sorted(set(paths_in(page.read_text(encoding="utf-8"))))
    assert [word for word in named if not exists(word) and not (page.parent / word).exists()] == []


@pytest.mark.parametrize("page", [page for page in WRITTEN if page.name not in PAGES], ids=relative)
def test_links_in_prose_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (page.parent / link).exists() and not (ROOT / link).exists()] == []


@pytest.mark.parametrize(("theirs", "ours"), FILES)
def test_the_seeds_files_are_where_the_page_says(theirs, ours):
    here = [word for word in re.findall(r"`([^`]+)`", ours) if "/" in word or word.endswith(".py")]
    if not ours.endswith(f": {LATER}"):
        assert here
        assert [word for word in here if not (ROOT / word).exists()] == []
    else:
        assert not all((ROOT / word).exists() for word in here) or not here, (
            f"{ours}: it is here now; take the mark off"
        )


@pytest.mark.parametrize(("theirs", "ours", "where"), ALIASES)
def test_the_seeds_names_are_read_where_the_page_says(theirs, ours, where):
    text = (ROOT / where.strip("`")).read_text(encoding="utf-8")
    assert ours.strip("`") in text
    for name in re.findall(r"`([A-Z][A-Z_]+|--[a-z-]+|[a-z]+_[a-z]+)`", theirs):
        assert name in text, name


def test_the_catalogues_command_lists_and_shows(capsys):
    assert catalogue.main(["list", "suites"]) == 0
    assert "tron-v1" in capsys.readouterr().out
    assert catalogue.main(["show", "easy"]) == 0
    assert "repair 1:" in capsys.readouterr().out
    assert catalogue.main(["show", "no-such-entry"]) == 1
    assert "no-such-entry" in capsys.readouterr().err


def test_the_catalogues_command_proves_tasks(capsys):
    assert catalogue.main(["check", "--seeds", "1"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("TASK")
    assert all(line.endswith(" ok") for line in said[1:])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("check", "trailing-newlin"),
            "no fault family is called 'trailing-newlin'; near it: trailing-newline; ",
        ),
        (("show", "deploymnt"), "nothing is called 'deploymnt'; near it: deployment"),
    ],
)
def test_the_catalogue_names_what_was_meant(words, told, capsys):
    assert catalogue.main(words) == 1
    assert told in capsys.readouterr().err
