"""A result as a notebook shows it: an extract of the report that is small, since notebooks keep all they show, and needs
no scripts. Colours are those of the page around it, so that it can be read on light and dark ones."""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from . import _assay
from ._shaded import texts_of

if TYPE_CHECKING:
    from ._results import Result

__all__ = ["extract", "table_page"]

# Bytes of parts of the page, which leaves some for the headline, the style and the names of what is left out.
_text_bytes, _notice_bytes, _table_bytes = 3_500, 1_000, 18_000
_picture_bytes, _legend_bytes, _thumbnail_bytes, _curve_bytes = 13_000, 2_000, 4_000, 4_000

_rows, _columns = 10, 14
_words = 80  # of a text
_rows_alone = 25

#: Tables that are curves: their columns of names, places and shares.
_curves = {"growth": ("criterion", "records", "coverage"), "apfd": ("order", "records", "found")}

_style = """<style>
.assay-result{font:14px/1.45 system-ui,sans-serif;max-width:72em}
.assay-result p,.assay-result details,.assay-result figure,.assay-result .g{margin:.5em 0}
.assay-result .h{font-size:1.15em;font-weight:600}
.assay-result .q{opacity:.72}
.assay-result .n{color:#d0453f;font-weight:600}.assay-result .y{color:#2b8a57;font-weight:600}
.assay-result summary{cursor:pointer;font-weight:600}
.assay-result .s{overflow-x:auto}
.assay-result table{border-collapse:collapse;border:0;margin:.4em 0;font-size:.93em}
.assay-result tr,.assay-result tbody tr:nth-child(odd),.assay-result tbody tr:hover{background:none}
.assay-result th,.assay-result td{padding:.2em .7em;text-align:right;white-space:nowrap;border:0;border-bottom:1px solid rgba(128,128,128,.35);color:inherit}
.assay-result .l{text-align:left}
.assay-result svg{display:inline-block;vertical-align:middle}.assay-result td svg{margin-left:.5em}
.assay-result .t{fill:currentColor;opacity:.15}.assay-result .f{fill:#4a8fc4}
.assay-result .c{fill:none;stroke:#4a8fc4;stroke-width:1.5}
.assay-result .g{display:flex;flex-wrap:wrap;gap:.3em 1.2em;align-items:flex-end}
.assay-result .w{flex-basis:100%;line-height:1.8}.assay-result .w span,.assay-result .w u{padding:.1em .25em;border-radius:.2em}
.assay-result figcaption{max-width:17em;font-size:.88em}
.assay-result img{max-width:17em;min-width:56px;image-rendering:pixelated;display:block}
</style>
"""


def extract(result: Result) -> str:
    """At most 60,000 bytes of HTML."""
    shown = result._answer.shown(_rows)
    tables = [table for table in shown["tables"] if table["size"] and table["columns"]]
    left: list[str] = []  # named where the report is
    body = [
        _head(shown),
        *_within(_text_bytes, _gates(shown), left),
        *_within(_text_bytes, _warnings(shown), left),
        _gallery("", _within(_text_bytes, _facts(shown), left)),
        *_within(_notice_bytes, _notices(shown), left),
        _gallery("", _within(_picture_bytes, chain(_pictures(shown["pictures"]), _shaded(result)), left)),
        *(part for _, part in _legends(result)),
        *(_gallery(table["title"], _within(_thumbnail_bytes, _thumbnails(table), None)) for table in _with_thumbnails(tables)),
        *(_gallery(table["title"], _within(_curve_bytes, _growth(result, table), None)) for table in _with_curves(tables)),
        *_within(_table_bytes, _tables([table for table in tables if not table["detail"]]), left),
    ]
    left += [_sized(table) for table in tables if table["detail"] and table["id"] != "colours"]
    return f'<div class="assay-result">\n{_style}{"".join(body)}{_where(left)}</div>'


def table_page(answer: Any, name: str) -> str:
    """A table by itself: its first rows."""
    tables = [table for table in answer.shown(_rows_alone)["tables"] if table["id"] == name]
    return f'<div class="assay-result">\n{_style}{"".join(part for _, part in _tables(tables))}</div>'


Part = tuple[str, str]  # what it is called where it is left out, and its HTML


def _within(most: int, parts: Iterable[Part], left: list[str] | None) -> Iterator[str]:
    """Parts as long as there is space; smaller ones may follow one that was too large. Those without HTML are too large."""
    for name, part in parts:
        size = len(part.encode())
        if part and size <= most:
            most -= size
            yield part
        elif left is not None:
            left.append(name)


def _text(text: str, most: int) -> str:
    return html.escape(text if len(text) <= most else text[: most - 1] + "…")


def _sized(table: dict[str, Any]) -> str:
    return f"{table['title']} ({table['size']} rows)" if table["size"] != 1 else f"{table['title']} (1 row)"


def _head(shown: dict[str, Any]) -> str:
    passed, gates = sum(bool(gate[0]) for gate in shown["gates"]), len(shown["gates"])
    return (
        f'<p><span class="q">assay {_text(shown["command"], 40)}</span><br><b class="h">{_text(shown["headline"], 400)}</b></p>\n'
        + (f"<p><b>gates: {passed} of {gates} passed</b></p>\n" if gates else "")
    )


def _gates(shown: dict[str, Any]) -> Iterator[Part]:
    for passed, text, outcome in sorted(shown["gates"], key=lambda gate: bool(gate[0])):  # those that failed first
        verdict = '<span class="y">passed</span>' if passed else '<span class="n">FAILED</span>'
        yield "more gates", f"<div>{verdict} {_text(f'{text} {outcome}'.strip(), 200)}</div>\n"


def _warnings(shown: dict[str, Any]) -> Iterator[Part]:
    for text, cause in shown["warnings"]:
        why = f' <span class="q">Likely cause: {_text(cause, 250)}</span>' if cause else ""
        yield "more warnings", f'<p><span class="n">Doubtful:</span> {_text(text, 300)}{why}</p>\n'


def _facts(shown: dict[str, Any]) -> Iterator[Part]:
    for title, value in shown["facts"]:
        yield "more facts", f"<span>{_text(title, 60)}: <b>{_text(value, 60)}</b></span> "


def _notices(shown: dict[str, Any]) -> Iterator[Part]:
    for notice in shown["notices"]:
        yield "more notices", f'<p class="q">{_text(notice, 300)}</p>\n'


def _more(count: int, what: str) -> str:
    return f'<p class="q">… and {count} more {what}</p>' if count > 0 else ""


def _gallery(title: str, pictures: Iterable[str]) -> str:
    inside = "".join(pictures)
    head = f"<p><b>{_text(title, 80)}</b></p>" if title else ""
    return f'{head}<div class="g">{inside}</div>\n' if inside else ""


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


def _pictures(pictures: Iterable[tuple[str, bytes]]) -> Iterator[Part]:
    for title, path in pictures:
        try:
            if os.path.getsize(path) > _picture_bytes:
                yield f"picture {title}", ""
                continue
            with open(path, "rb") as file:
                content = file.read()
        except (OSError, ValueError):
            continue  # the report says that it is not there
        # A document may name any file; only what begins and ends as PNG files do is shown.
        if content.startswith(b"\x89PNG\r\n\x1a\n") and content.endswith(b"\0\0\0\0IEND\xaeB`\x82"):
            data = "data:image/png;base64," + base64.b64encode(content).decode()
            yield f"picture {title}", _figure(f'<img src="{data}" alt="">', _text(title, 120))


def _shaded(result: Result) -> Iterator[Part]:
    """Texts with words that are red for and blue against the decision, in the direction in which they are read."""
    tables = result.document["tables"]
    texts, words = (tables.get(name, {"rows": [], "columns": []}) for name in ("texts", "words"))
    if not {"record", "position", "word", "share"} <= {column["id"] for column in words["columns"]}:
        return
    for text, its in zip((row for row in texts["rows"] if row["text"]), texts_of(words["rows"])):
        record = f"record {text['record']}"
        named = f", named {_assay.visible(text['class'])}" if text.get("class") else ""
        body = " ".join(_word(word) for word in its[:_words])
        title = f'<div class="q">{_text(record + named, 80)}</div>'
        yield f"words of {record}", f'<div class="w">{title}<div dir="auto">{body}</div>{_more(len(its) - _words, "words")}</div>\n'


def _word(word: dict[str, Any]) -> str:
    share = word["share"] if isinstance(word["share"], (int, float)) else 0
    colour, tag = ("#4a8fc4", "u") if share < 0 else ("#d0453f", "span")
    shade = f"{round(min(abs(share), 1) * 0.6 * 255):02x}"
    text = _assay.visible(str(word["word"]))
    # Special tokens do not say in which direction the text is read.
    side = ' dir="ltr"' if re.fullmatch(r"\[.*\]|<.*>", text) else ""
    return f'<{tag}{side} style="background:{colour}{shade}">{_text(text, 60)}</{tag}>'


def _legends(result: Result) -> Iterator[Part]:
    """Which colour of the pictures is which class."""
    rows = result.document["tables"].get("colours", {"rows": []})["rows"]
    known = [(str(row.get("class")), str(row.get("colour"))) for row in rows]
    named = [
        f'<span style="white-space:nowrap"><b style="color:{colour}">■</b> {_text(_assay.visible(name), 40)}</span> '
        for name, colour in known
        if re.fullmatch(r"#[0-9a-f]{6}", colour)
    ]
    kept = list(_within(_legend_bytes, (("", one) for one in named), None))
    if kept:
        yield "", f'<p>{"".join(kept)}</p>{_more(len(known) - len(kept), "classes")}\n'


def _with_thumbnails(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One table, since there is space for one."""
    return [table for table in tables if any(name == "thumbnail" for name, _, _ in table["columns"])][:1]


def _thumbnails(table: dict[str, Any]) -> Iterator[Part]:
    ids = [name for name, _, _ in table["columns"]]
    said = [(c, title) for c, (name, title, text) in enumerate(table["columns"]) if text and name != "thumbnail"][:3]
    for row in table["rows"]:
        data = row[ids.index("thumbnail")]
        if re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/]+=*", data):
            caption = "<br>".join(f'<span class="q">{_text(title, 20)}</span> {_text(row[c], 20)}' for c, title in said)
            yield "", _figure(f'<img src="{data}" alt="">', caption)


def _with_curves(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [table for table in tables if table["id"] in _curves][:1]


def _growth(result: Result, table: dict[str, Any]) -> Iterator[Part]:
    """Small curves with their last figures."""
    name, place, share = _curves[table["id"]]
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in result.document["tables"][table["id"]]["rows"]:
        if all(isinstance(row.get(column), (int, float)) for column in (place, share)):
            curves.setdefault(str(row.get(name)), []).append((float(row[place]), float(row[share])))
    for curve, points in curves.items():
        if len(points) > 1:
            figure = f"<b>{int(points[-1][1] * 1000) / 10} %</b>"
            yield "", _figure(_curve(points), f"{_text(_assay.visible(curve), 40)} {figure}")


def _curve(points: list[tuple[float, float]]) -> str:
    points = points[:: max(1, len(points) // 40)] + points[-1:]
    end = max(place for place, _ in points) or 1
    line = " ".join(f"{120 * place / end:.0f},{33 - 32 * min(max(share, 0), 1):.1f}" for place, share in points)
    return f'<svg width="120" height="34"><rect class="t" width="120" height="34"/><polyline class="c" points="{line}"/></svg>'


def _tables(tables: list[dict[str, Any]]) -> Iterator[Part]:
    for number, table in enumerate(tables):
        columns = [c for c, (name, _, _) in enumerate(table["columns"]) if name != "thumbnail"]
        kept = columns[:_columns]
        texts = {c for c in kept if table["columns"][c][2]}
        head = "".join(f'<th scope="col"{_side(c in texts)}>{_text(table["columns"][c][1], 40)}</th>' for c in kept)
        rows = "".join(f"<tr>{''.join(_cell(table, r, c, c in texts) for c in kept)}</tr>\n" for r in range(len(table["rows"])))
        left = _more(table["size"] - len(table["rows"]), "rows") + _more(len(columns) - len(kept), "columns")
        yield _sized(table), (
            f"<details{' open' if number == 0 else ''}><summary>{_text(_sized(table), 90)}</summary><div class=\"s\"><table>"
            f"<thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>{left}</details>\n"
        )


def _side(text: bool) -> str:
    return ' class="l"' if text else ""


def _cell(table: dict[str, Any], row: int, column: int, text: bool) -> str:
    bar = ""
    if column == table["share"] and table["shares"][row] is not None:
        width = min(max(table["shares"][row], 0), 1) * 60
        bar = f'<svg width="60" height="8"><rect class="t" width="60" height="8"/><rect class="f" width="{width:.0f}" height="8"/></svg>'
    return f"<td{_side(text)}>{_text(table['rows'][row][column], 60)}{bar}</td>"


def _where(left: list[str]) -> str:
    left = list(dict.fromkeys(left))
    names = ", ".join(_text(name, 50) for name in left[:_rows]) + (" and more" if len(left) > _rows else "")
    return (
        '<p class="q">An extract. <code>result.save_html("report.html")</code> writes the whole report, with '
        f"{names + ', ' if names else ''}all rows, definitions and provenance; <code>assay.save_report(\"report.html\", [a, b])</code> "
        "one of several results.</p>\n"
    )
