"""/gpu-usage: GPU-hours that a team held, how many of them were busy, and what idle ones cost.

[pure]
"""

from commands.command import Command
from commands.usage_data import answer
from commands.usage_page import page

COMMAND = Command(
    word="usage",
    usage="/gpu-usage [team, queue, cohort or all] [time]",
    summary="GPU-hours held, busy and idle, and what idle costs",
    examples=("/gpu-usage research last week", "/gpu-usage 24h", "/gpu-usage ml 2026-W48"),
    answer=answer,
    page=page,
)
