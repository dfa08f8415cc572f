"""/gpu-digest: what a week of the cluster was like, for a channel; posted by itself on a schedule.

[pure]
"""

from commands.command import Command
from commands.digest_data import answer
from commands.digest_page import page

COMMAND = Command(
    word="digest",
    usage="/gpu-digest [team, queue or cohort] [time]",
    summary="what changed: busy and idle by team, and how long jobs waited",
    examples=("/gpu-digest", "/gpu-digest research last month"),
    answer=answer,
    page=page,
)
