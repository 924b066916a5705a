"""Result documents of what is found about texts (docs/schema/result.schema.json)."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _assay
from .._results import Result
from ..errors import UsageError
from ._intervals import clopper_pearson, wilson
from ._network import TextNetwork

_gate = re.compile(r"\s*([\w-]+)\s*(?:\[(.*)\])?\s*(>=|<=|=)\s*(\S+)\s*$")


@dataclass(frozen=True)
class Figure:
    """A share of counts, for gates: ``context`` is "test=name", or empty for all."""

    name: str
    covered: int
    coverable: int
    context: str = ""

    def row(self) -> dict[str, Any]:
        share = self.covered / self.coverable if self.coverable else None
        return {
            "criterion": self.name, "layer": "all", "class": None, "context": self.context or None, "covered": self.covered,
            "coverable": self.coverable, "coverage": share, "measure": None, "better": "higher",
        }

    def intervals(self) -> dict[str, Any]:
        (low, high), (near, far) = clopper_pearson(self.covered, self.coverable), wilson(self.covered, self.coverable)
        return {"low": low, "high": high, "wilson_low": near, "wilson_high": far}


def table(name: str, title: str, columns: Mapping[str, str], rows: list[dict[str, Any]], titles: Mapping[str, str] | None = None, *, detail: bool = False) -> dict[str, Any]:
    """A table of a document; ``columns``: their kinds by name."""
    named = titles or {}
    return {
        "id": name, "title": title, "detail": detail,
        "columns": [{"id": c, "title": named.get(c, c.replace("_", " ")), "kind": kind, "decimals": 2} for c, kind in columns.items()],
        "rows": [{column: row.get(column) for column in columns} for row in rows],
    }


_criteria = {
    "criterion": "text", "layer": "text", "class": "text", "context": "text", "covered": "count", "coverable": "count",
    "coverage": "fraction", "measure": "number", "better": "text",
}


def result_of(
    command: str, headline: str, figures: Sequence[Figure], tables: Sequence[dict[str, Any]], *, network: TextNetwork,
    gates: Sequence[str] = (), definitions: Sequence[dict[str, str]] = (), options: str = "",
) -> Result:
    """A result with the figures as facts and for gates."""
    facts, shown = _facts(figures)
    all_tables = [*tables, table("criteria", "Figures for gates", _criteria, [figure.row() for figure in figures], detail=True)]
    document: dict[str, Any] = {
        "schema": "assay/result", "version": 1, "command": command, "headline": headline, "facts": facts, "fact_columns": shown,
        "tables": {one["id"]: {key: value for key, value in one.items() if key != "id"} for one in all_tables}, "gates": [],
        "warnings": [], "pictures": [], "notices": [], "definitions": list(definitions),
        "provenance": {
            "model": network.model.name, "model_hash": network.model.hash, "options": options, "texts_judged": network.asked,
            "assay": _assay.__version__, "finished": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
    }
    answer = _answer(document)
    document["gates"] = [_judged(answer, gate, figures) for gate in ([gates] if isinstance(gates, str) else gates)]
    return Result(_answer(document) if gates else answer)


def _answer(document: dict[str, Any]) -> Any:
    return _assay.read_answer(json.dumps(document), "the result")


def _facts(figures: Sequence[Figure]) -> tuple[dict[str, Any], dict[str, Any]]:
    facts: dict[str, Any] = {}
    shown: dict[str, Any] = {}
    for figure in figures:
        if figure.context:
            continue
        name = figure.name.replace("-", "_")
        low, high = clopper_pearson(figure.covered, figure.coverable)
        facts[name] = figure.covered / figure.coverable if figure.coverable else None
        shown[name] = {"title": figure.name.replace("-", " "), "kind": "fraction", "decimals": 2}
        facts[name + "_interval"] = f"{figure.covered} of {figure.coverable}; {100 * low:.2f} % to {100 * high:.2f} % (95 %, Clopper and Pearson)"
        shown[name + "_interval"] = {"title": f"{shown[name]['title']}, interval", "kind": "text", "decimals": 2}
    return facts, shown


def _judged(answer: Any, text: str, figures: Sequence[Figure]) -> dict[str, Any]:
    """A gate with what it asked for; the library decides."""
    parts = _gate.match(text)
    if parts is None:
        raise UsageError(f"gate '{text}' is not written FIGURE[CONTEXT]>=SHARE (docs/gates.md)")
    if parts[1] not in {figure.name for figure in figures}:
        raise UsageError(f"gate '{text}': there is no figure '{parts[1]}'; there are {', '.join(dict.fromkeys(f.name for f in figures))}")
    found = answer.gate(text)
    asked = [f for f in figures if f.name == parts[1] and f.context == (parts[2] or "").replace('"', "")]
    figure = asked[0] if asked else None
    counts = ("", "") if figure is None else (str(figure.covered), str(figure.coverable))
    return {
        "text": text, "passed": bool(found["passed"]), "reason": found["reason"], "criterion": parts[1], "layer": "all", "class": "",
        "context": (parts[2] or "").replace('"', ""), "relation": parts[3], "threshold": parts[4], "covered": counts[0], "coverable": counts[1],
        "value": None if figure is None or not figure.coverable else figure.covered / figure.coverable,
    }
