"""The files of a terminal, in memory."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field


@dataclass
class MemoryFiles:
    """Files of a terminal, by path."""

    texts: dict[str, str] = field(default_factory=dict)
    root: str = "/tmp/w"
    """The working directory; the recorder of l0 left it out of texts."""

    def _own(self, path: str) -> str:
        """Return a path as the texts have it: from the working directory on where it lies in it."""
        path = posixpath.normpath(path)
        if path == self.root:
            return "."
        inside = path.removeprefix(f"{self.root}/") if path.startswith("/") else path
        return path if path in self.texts else inside

    def read(self, path: str) -> str:
        path = self._own(path)
        if path not in self.texts:
            raise FileNotFoundError(path)
        return self.texts[path]

    def write(self, path: str, text: str) -> None:
        self.texts[self._own(path)] = text

    def remove(self, path: str) -> None:
        self.texts.pop(self._own(path), None)

    def makedirs(self, path: str) -> None:
        """Nothing to do: a directory is what has files."""

    def listdir(self, path: str) -> list[str]:
        if not self.is_dir(path):
            raise FileNotFoundError(path)
        prefix = _prefix(self._own(path))
        return sorted(
            {name[len(prefix) :].partition("/")[0] for name in self.texts if name.startswith(prefix)}
        )

    def absolute(self, path: str) -> str:
        plain = posixpath.normpath(path)
        return plain if plain.startswith("/") else f"{self.root}/{plain}".removesuffix("/.")

    def is_dir(self, path: str) -> bool:
        prefix = _prefix(self._own(path))
        if not prefix or f"{self.root}/".startswith(prefix):
            return True
        return any(name.startswith(prefix) for name in self.texts)


def _prefix(directory: str) -> str:
    plain = posixpath.normpath(directory)
    return "" if plain == "." else "/" if plain == "/" else plain + "/"
