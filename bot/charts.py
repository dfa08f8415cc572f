"""A chart as a picture: stacked bars, readable on a phone and without colours.

The only user of matplotlib, which is imported when the first picture is drawn: it takes a second
and 40 MB that most processes never need.
"""
# ruff: noqa: PLC0415

import io
import threading
from typing import Any

from commands.page import Chart

WIDTH, HEIGHT, DOTS = 5.0, 3.1, 200
MOST_TICKS = 7
# Parts differ by lightness and by pattern, so that they differ in grey and to the colour-blind.
STYLES = (
    {"color": "#1d4e89", "hatch": ""},
    {"color": "#f4a259", "hatch": "///"},
    {"color": "#c4c9cf", "hatch": "..."},
    {"color": "#5b8e7d", "hatch": "xx"},
)
_INK, _FAINT = "#1f2328", "#d0d7de"
# matplotlib's caches of fonts and text are not made for several threads.
_lock = threading.Lock()


def png(chart: Chart) -> bytes:
    """Return the chart as a PNG of 1000 x 620 pixels; series are stacked in their order."""
    with _lock:
        return _draw(chart)


def _draw(chart: Chart) -> bytes:
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"font.size": 12, "hatch.linewidth": 0.6, "text.parse_math": False}):
        figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        _bars(axes, chart)
        _frame(axes, chart)
        made = io.BytesIO()
        figure.savefig(made, format="png")
    return made.getvalue()


def _bars(axes: Any, chart: Chart) -> None:
    places = range(len(chart.labels))
    floor = [0.0] * len(chart.labels)
    for index, (name, values) in enumerate(chart.series):
        style = STYLES[index % len(STYLES)]
        axes.bar(places, values, bottom=floor, width=0.78, label=name, edgecolor="white", **style)
        floor = [below + value for below, value in zip(floor, values, strict=True)]
    top = max(floor, default=0.0)
    axes.set_ylim(0, top * 1.08 if top else 1.0)


def _frame(axes: Any, chart: Chart) -> None:
    every = -(-len(chart.labels) // MOST_TICKS) or 1
    shown = range(0, len(chart.labels), every)
    axes.set_xticks(list(shown), [chart.labels[i] for i in shown], fontsize=11)
    if chart.unit not in chart.title:  # the message shows the title above the picture
        axes.set_ylabel(chart.unit, color=_INK)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        ncols=len(chart.series),
        frameon=False,
        fontsize=11,
        handlelength=1.2,
        columnspacing=1.2,
        borderpad=0.1,
    )
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="y", color=_FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(_FAINT)
