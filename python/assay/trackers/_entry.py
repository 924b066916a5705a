"""What a tracker is, and what it gets of a result."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import re
import socket
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Entry", "Files", "Tracker", "objects_of", "plain", "require_server"]


class Files:
    """The report, the result document and tables of a result: written where a tracker keeps them, or into a folder that it
    copies."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        #: By path: "report.html", "result.json", "tables/criteria.csv".
        self.texts = texts
        self._copied = contextlib.ExitStack()

    def write(self, folder: pathlib.Path) -> None:
        for name, text in self.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # file systems wait for the disk where a file is emptied and written anew
            path.write_bytes(text.encode())

    def folder(self) -> pathlib.Path:
        """One with the files, until they are logged. Nothing waits for the disk."""
        work = self._copied.enter_context(tempfile.TemporaryDirectory(prefix="assay-"))
        # Within it, as a folder that others may read: some trackers copy it with its permissions.
        folder = pathlib.Path(work, "result")
        self.write(folder)
        return folder

    def remove(self) -> None:
        self._copied.close()


@dataclass(frozen=True)
class Entry:
    """A result as trackers take it."""

    command: str
    metrics: Mapping[str, float]  # "cover/nc", "cover/nc/conv2"
    texts: Mapping[str, str]  # the headline, hashes, options, seed
    markdown: str
    step: int | None  # such as the epoch
    files: Files | None  # report.html, result.json and tables/*.csv; None: figures alone

    @functools.cached_property
    def folder(self) -> pathlib.Path | None:
        """A folder with the files, which is gone once they are logged; None: figures alone."""
        return None if self.files is None else self.files.folder()

    @property
    def place(self) -> str:
        """A name for the files, other than that of other steps."""
        return f"assay-{self.command}" + ("" if self.step is None else f"-{self.step}")


def _nothing() -> None:
    return None


def _none_begun(command: str) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


@dataclass(frozen=True)
class Tracker:
    """``log`` gets an entry, and what it is logged to: the object that was given in place of the name; otherwise what
    ``active`` gives; otherwise what ``begun`` makes for the command, for one result or for all those of a history; or
    None."""

    name: str
    package: str  # what pip installs
    objects: str  # what may be given in place of the name
    remedy: str  # what to do if logging fails
    takes: Callable[[Any], bool]
    log: Callable[[Entry, Any], None]
    active: Callable[[], Any] = _nothing
    begun: Callable[[str], contextlib.AbstractContextManager[Any]] = _none_begun


def require_server(uri: str) -> None:
    """That something answers there: clients of trackers ask for a minute and more before they give up."""
    parts = urllib.parse.urlsplit(uri)
    host = parts.hostname or ""
    through_proxy = parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host)
    if parts.scheme not in ("http", "https") or through_proxy:
        return
    try:
        socket.create_connection((host, parts.port or (443 if parts.scheme == "https" else 80)), 3).close()
    except OSError as error:
        raise ConnectionError(f"the server at {uri} does not answer ({error})") from error


def objects_of(*classes: str) -> Callable[[Any], bool]:
    """Whether something is an object of classes, named with their packages: "wandb.Run". Nothing is imported."""
    known = {tuple(name.split(".")) for name in classes}
    return lambda value: any((kind.__module__.split(".")[0], kind.__name__) in known for kind in type(value).__mro__)


def plain(name: str) -> str:
    """A name in letters, digits and `_-./ ` as all trackers take it: "idc[m=6]/conv2" is "idc_m_6/conv2". Those of files are
    taken apart at slashes, so that no part is empty or leads elsewhere: "nc//0/Gemm" is "nc/0/Gemm"."""
    parts = re.sub(r"_+(/|$)", r"\1", re.sub(r"[^\w\-./ ]+", "_", name)).split("/")
    return "/".join(part.replace(".", "_") if part in (".", "..") else part for part in parts if part)
