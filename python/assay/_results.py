"""Results of analyses: the program's result document, with what goes beyond it as attributes."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _assay
from ._data import Data, data as make_data
from .errors import DataError, FileError, GateFailed, UsageError, kind_of

__all__ = ["Result", "Table", "read_result", "save_report"]


class Table:
    """One table of a result: ``rows`` are dicts by column."""

    def __init__(self, name: str, entry: Mapping[str, Any], answer: Any = None) -> None:
        self._answer = answer  # what draws the table in a notebook
        self.name = name
        self.title = str(entry["title"])
        self.columns: list[str] = [column["id"] for column in entry["columns"]]
        #: By column: "text", "count", "number" or "fraction"; and its heading.
        self.kinds: dict[str, str] = {column["id"]: column["kind"] for column in entry["columns"]}
        self.titles: dict[str, str] = {column["id"]: column["title"] for column in entry["columns"]}
        self.detail = bool(entry.get("detail", False))
        self.rows: list[dict[str, Any]] = list(entry["rows"])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __getitem__(self, key: int | str) -> Any:
        """A row by number, or a column as a list by name."""
        if isinstance(key, int):
            return self.rows[key]
        if key not in self.columns:
            raise KeyError(f"table {self.name} has no column '{key}'; there are {', '.join(self.columns)}")
        return [row[key] for row in self.rows]

    def to_pandas(self) -> Any:
        """A pandas DataFrame; counts beyond 64 bits stay Python's integers."""
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def _repr_html_(self) -> str | None:
        from ._notebook import table_page

        return None if self._answer is None else table_page(self._answer, self.name)

    def __repr__(self) -> str:
        return f"<assay.Table {self.name}: {len(self)} rows of {', '.join(self.columns)}>"


class Result:
    """What an analysis found.

    ``headline`` answers the question in a line; ``facts`` and ``tables`` hold the figures by name. Facts and criteria
    are attributes as well: ``result.test_accuracy``, ``result.nc``, and ``result.coverage("kmnc", layer="conv2")``.
    What the analysis made in addition to its document is in ``arrays``, ``model``, ``models`` or ``ids``.
    """

    def __init__(self, answer: Any, **made: Any) -> None:
        self._answer = answer
        self._document: dict[str, Any] | None = None
        self._json: str | None = None
        #: Arrays by name of attack (``attack``), of findings (``explore``) or of records (``evaluate``).
        self.arrays: Mapping[str, Any] = {}
        #: Data sets of what was made, by the same names.
        self.data: dict[str, Data] = {}
        #: The records that those of ``data`` were made of, for ``plot("pairs")``.
        self.source: Data | None = None
        #: The network that was trained, pruned or exported.
        self.model: Any = None
        #: Retrained networks by kind of addition.
        self.models: dict[str, Any] = {}
        #: Chosen records, in their order (``select``), or suspects (``polluted``).
        self.ids: list[str] = []
        #: Positions of these in the data set.
        self.positions: np.ndarray[Any, Any] = np.zeros(0, np.int64)
        #: File of the state, if one was requested.
        self.state: str | None = None
        for name, value in made.items():
            setattr(self, name, value)

    @property
    def document(self) -> dict[str, Any]:
        """The result document as the program writes it with --json (docs/schema/result.schema.json)."""
        if self._document is None:
            self._document = json.loads(self.to_json())
        return self._document

    @property
    def command(self) -> str:
        return str(self.document["command"])

    @property
    def headline(self) -> str:
        return str(self.document["headline"])

    @property
    def facts(self) -> dict[str, Any]:
        return dict(self.document["facts"])

    @property
    def tables(self) -> dict[str, Table]:
        return {name: Table(name, entry, self._answer) for name, entry in self.document["tables"].items()}

    @property
    def gates(self) -> list[dict[str, Any]]:
        return list(self.document["gates"])

    @property
    def warnings(self) -> list[dict[str, str]]:
        """Reasons to doubt figures: ``id``, ``text`` and the likely ``cause`` of each; the headline names the ids."""
        return list(self.document["warnings"])

    @property
    def notices(self) -> list[str]:
        return list(self.document["notices"])

    @property
    def provenance(self) -> dict[str, Any]:
        """Provenance: hashes, options, seed, versions, times."""
        return dict(self.document["provenance"])

    @property
    def passed(self) -> bool:
        """Whether all gates passed; True where there are none."""
        return all(gate["passed"] for gate in self.gates)

    def require(self) -> Result:
        """Raises GateFailed unless all gates passed; the result itself otherwise."""
        failed = [gate for gate in self.gates if not gate["passed"]]
        if failed:
            raise GateFailed("; ".join(f"{gate.get('text', gate.get('gate'))} failed" for gate in failed))
        return self

    def gate(self, text: str) -> dict[str, Any]:
        """Judges a gate such as ``"kmnc[layer=conv2]=60%"`` (docs/gates.md): ``passed``, ``described``, ``reason``."""
        return dict(self._answer.gate(text))

    def table(self, name: str) -> Table:
        tables = self.document["tables"]
        if name not in tables:
            raise UsageError(f"the result has no table '{name}'; there are {', '.join(tables)}")
        return Table(name, tables[name], self._answer)

    def coverage(self, criterion: str, layer: str = "all") -> float:
        """A criterion's value, covered / coverable or the measure; over all layers unless one is named. Criteria are
        named as in the table ``criteria``: ``"kmnc"``, or ``"idc[m=6]"`` where there are several."""
        name = criterion.split("[")[0]
        rows = (
            [row for row in self._criteria() if row["criterion"] == criterion]
            or [row for row in self._criteria() if row["criterion"].split("[")[0] == criterion]
            or [row for row in self._criteria() if row["criterion"] == name]  # alone it is listed without options
        )
        if not rows:
            raise UsageError(
                f"no criterion '{criterion}' was measured; there are "
                + ", ".join(dict.fromkeys(row["criterion"] for row in self._criteria()))
            )
        names = dict.fromkeys(row["criterion"] for row in rows)
        if len(names) > 1:
            raise UsageError(f"'{criterion}' was measured with several options: {', '.join(names)}; name one")
        chosen = [row for row in rows if row["layer"] == layer]
        if not chosen and layer == "all" and len({row["layer"] for row in rows}) == 1:
            chosen = rows
        if not chosen:
            raise UsageError(f"{criterion} has no figure for '{layer}'; there are {[row['layer'] for row in rows]}")
        row = chosen[0]
        value = row.get("measure") if row["coverage"] is None else row["coverage"]
        return math.nan if value is None else float(value)  # nothing is coverable

    def _criteria(self) -> list[dict[str, Any]]:
        table = self.document["tables"].get("criteria")
        return [] if table is None else list(table["rows"])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        document = self.document
        if name in document["facts"]:
            return document["facts"][name]
        if any(row["criterion"].split("[")[0] == name for row in self._criteria()):
            return self.coverage(name)
        if name in document["tables"]:
            return Table(name, document["tables"][name], self._answer)
        raise AttributeError(
            f"the result has no '{name}'; its facts are {', '.join(document['facts']) or 'none'}, its tables "
            f"{', '.join(document['tables']) or 'none'}"
        )

    def __dir__(self) -> list[str]:
        own = list(super().__dir__())
        criteria = {row["criterion"].split("[")[0] for row in self._criteria()}
        return sorted({*own, *self.document["facts"], *self.document["tables"], *criteria})

    def to_json(self) -> str:
        """The result document, byte for byte as the program writes it."""
        if self._json is None:
            self._json = str(self._answer.json())
        return self._json

    def to_pandas(self, table: str | None = None) -> Any:
        """A table as a DataFrame; without a name the first one."""
        names = list(self.document["tables"])
        if not names:
            raise UsageError("the result has no table")
        return self.table(names[0] if table is None else table).to_pandas()

    def to_html(self) -> str:
        """The report: one page without network requests."""
        return str(self._answer.html())

    def render(self, name: str) -> str:
        """As the program's --markdown, --junit, --sarif, ...: the name of the flag."""
        return str(self._answer.render(name))

    def render_files(self, name: str) -> dict[str, str]:
        """What such a flag writes, by name of file: ``render_files("csv")["criteria.csv"]``."""
        return dict(self._answer.render_files(name))

    def save_html(self, path: str | os.PathLike[str]) -> None:
        _write(path, self.to_html())

    def save_json(self, path: str | os.PathLike[str]) -> None:
        _write(path, self.to_json())

    def figures(self) -> dict[str, float]:
        """Facts that are numbers, and criteria by name: ``nc`` over all layers, ``nc/conv2`` of one."""
        named: dict[str, Any] = dict(self.facts)
        for row in self._criteria():
            if row.get("class") is None and row.get("context") is None:
                name = row["criterion"] if row["layer"] == "all" else f"{row['criterion']}/{row['layer']}"
                named.setdefault(name, row.get("measure") if row["coverage"] is None else row["coverage"])
        numbers = {name: value for name, value in named.items() if isinstance(value, (int, float)) and not isinstance(value, bool)}
        return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}

    def log(self, to: Any, *, step: int | None = None, files: bool = True) -> Result:
        """Keeps the result in trackers: figures as metrics, and the report, the result document and tables as files
        (none with ``files=False``). ``to``: ``"mlflow"``, ``"wandb"``, ``"tensorboard"``, ``"aim"``, ``"dvclive"``, an
        object of theirs (a run, a SummaryWriter, a Live), or a list of these. ``step``: an epoch, say. Gives the result
        itself; a tracker that is not there is an AssayWarning."""
        from . import trackers

        for one in trackers.all_of(to):
            trackers.log(self, one, step=step, files=files)
        return self

    def __copy__(self) -> Result:
        other = Result(self._answer)
        other.__dict__.update(self.__dict__)
        return other

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a result is not pickled: save_json() writes it to a file, which assay.read_result() reads")

    def _repr_html_(self) -> str:
        from ._notebook import extract

        return extract(self)

    def __str__(self) -> str:
        return str(self._answer.text(100))

    def __repr__(self) -> str:
        return f"<assay.Result {self.command}: {self.headline}>"

    def plot(self, table: str | None = None, *, ax: Any = None, dpi: float | None = None, **options: Any) -> Any:
        """A table with matplotlib, as it is best read: lines along records, severities and epochs, histograms
        (``row=``), confusions as a matrix, a reliability diagram, the words of ``top=`` explained texts, otherwise bars
        (``top=`` of them, of ``column=``).
        ``"pairs"`` of attack() and explore() shows ``top=`` records with what was made of them (``of=`` an attack).
        Without a name, the table that shows most. Draws on ``ax``, or on a new figure; returns the axes."""
        from . import plots

        return plots.draw(self, table, ax, dpi, options)

    def widget(self) -> Any:
        """In Jupyter with ipywidgets: chooses a table, a layer and a row, and shows rows with the picture of the first."""
        from ._widget import chooser

        return chooser(self)


def read_result(path: str | os.PathLike[str]) -> Result:
    """A result document that the program, or :meth:`Result.save_json`, wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{os.fspath(path)}: is not a result document: {error}") from error
    return Result(_assay.read_answer(text, os.fspath(path)))


def _write(path: str | os.PathLike[str], text: str) -> None:
    """Makes the folder as well. A file that is there stays as it is unless the whole text can be written."""
    place = os.path.realpath(path)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.exists(place) and not os.path.isfile(place):
            with open(place, "w", encoding="utf-8") as file:  # a pipe, a terminal; a folder is refused
                file.write(text)
        else:
            _replace(place, text)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = "; free some space there, or name a file on another disk" if full else ""
        raise FileError(f"{os.fspath(path)}: {error.strerror}{remedy}") from error


def _replace(place: str, text: str) -> None:
    """Through a file beside it that takes its name."""
    made = f"{place}.{secrets.token_hex(8)}.partial"
    try:
        with open(made, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(place):
            os.chmod(made, os.stat(place).st_mode & 0o7777)
        os.replace(made, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(made)
        raise


def save_report(path: str | os.PathLike[str], results: Iterable[Result]) -> None:
    """Several results as one page."""
    results = list(results)
    for result in results:
        if not isinstance(result, Result):
            kind = "None" if result is None else kind_of(result)
            raise UsageError(f"a report is made of results; {kind} is not one")
    _write(path, _assay.page([result._answer for result in results]))


def positions_of(data: Any, ids: list[str]) -> np.ndarray[Any, Any]:
    """Where records of these ids are in a data set (the first of each id)."""
    known: dict[str, int] = {}
    for position, name in enumerate(make_data(data).ids):
        known.setdefault(name, position)
    return np.array([known[name] for name in ids if name in known], dtype=np.int64)


def texts(rows: Any) -> list[str]:
    """Ids as .npz files of Assay hold them: rows of bytes filled up with zeros."""
    return [bytes(row).rstrip(b"\0").decode("utf-8", "replace") for row in rows]
