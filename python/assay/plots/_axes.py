"""Axes to draw on, and what a kind of picture is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError

__all__ = ["Kind", "MakeAxes", "axes_of", "is_share", "numbers_of"]

#: Gives the axes; width and height in inches for those that are new.
MakeAxes = Callable[[float, float], Any]


@dataclass(frozen=True)
class Kind:
    """``draw(table, make_axes, **options)`` gives the axes."""

    name: str
    options: tuple[str, ...]
    takes: Callable[[Any], bool]
    draw: Callable[..., Any]


def axes_of(ax: Any, dpi: float | None, size: tuple[float, float]) -> Any:
    if ax is not None:
        if dpi is not None:
            raise UsageError("dpi: it belongs to the figure of the axes that are given; leave out one of ax= and dpi=")
        return ax
    if dpi is not None and not (isinstance(dpi, (int, float)) and dpi > 0):
        raise UsageError(f"dpi={dpi!r}: a number above 0")
    try:
        import matplotlib.pyplot as pyplot

        return pyplot.subplots(figsize=size, dpi=dpi, layout="constrained")[1]
    except Exception as error:  # of the window system, if a backend needs one
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("matplotlib"):
            raise UsageError("plots need matplotlib, which is not installed; `pip install matplotlib`") from error
        raise UsageError(
            f"matplotlib opens no figure ({error}); with MPLBACKEND=agg it draws without a display. The result is kept, and "
            "save_html() writes its page"
        ) from error


def numbers_of(table: Any) -> list[str]:
    """Columns of figures: shares and numbers, or counts where there are none."""
    shares = [c for c in table.columns if table.kinds[c] in ("fraction", "percent", "number")]
    return shares or [c for c in table.columns if table.kinds[c] == "count"]


def is_share(table: Any, column: str) -> bool:
    return str(table.kinds[column]) in ("fraction", "percent")
