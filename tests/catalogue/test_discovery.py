"""An author's mistake in a declaration is an error at import, before any episode."""

import importlib
import sys

import pytest

from env_core.discovery import CatalogueError, discover


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a package of modules and imports it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def make(**modules):
        name = f"declared_{tmp_path.name.replace('-', '_')}_{len(made)}"
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(text)
        made.append(name)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield make
    for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] in made]:
        del sys.modules[loaded]


def test_a_module_without_its_constant_is_refused(package):
    made = package(good="ENTRY = 1", bad="VALUE = 2")
    with pytest.raises(CatalogueError, match=r"\.bad must define ENTRY: int"):
        discover(made, "ENTRY", int)


def test_a_constant_of_another_type_is_refused(package):
    made = package(good="ENTRY = 1", wrong="ENTRY = 'one'")
    with pytest.raises(CatalogueError, match=r"\.wrong must define ENTRY: int"):
        discover(made, "ENTRY", int)


def test_a_module_that_does_not_import_is_not_skipped(package):
    made = package(broken="raise RuntimeError('at import')")
    with pytest.raises(RuntimeError, match="at import"):
        discover(made, "ENTRY", int)


def test_entries_are_sorted_and_private_modules_are_left_out(package):
    made = package(zebra="ENTRY = 3", an_apple="ENTRY = 1", _private="VALUE = 0")
    assert list(discover(made, "ENTRY", int).items()) == [("an-apple", 1), ("zebra", 3)]
