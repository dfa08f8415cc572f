"""[pure] The modal of /gpu-fit: a size, a manifest pasted or uploaded, and where it would run.

What comes back is a wish like any other question: it is parsed and answered by the same code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.modal_elements import line, lines, plain, select, upload, words
from bot.modals import View, metadata
from commands.parse import holds_manifest

TITLE = "Would it fit?"
CALLBACK = "fit"
QUEUE, SIZE, FILE, PASTE = "fitqueue", "fitsize", "fitfile", "fitpaste"
ANY = "any"
FILETYPES = ("yaml", "yml", "json", "text", "txt")
PASTED = 3_000
_ONE = "Give one of the three: a size, a file, or a pasted manifest."


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked; "" is not given. ``file`` is the id of an uploaded file."""

    queue: str = ""
    size: str = ""
    file: str = ""
    paste: str = ""

    @property
    def block(self) -> str:
        """The field that the answer is about, for an error to stand at."""
        return FILE if self.file else PASTE if self.paste else SIZE


def loading(channel: str) -> View:
    """Return the modal to show at once, while the queues are looked up."""
    return _modal([words("Looking up the queues…")], channel)


def form(queues: Sequence[str], channel: str) -> View:
    """Return the modal to fill in; ``queues`` has the person's own first."""
    options = [(ANY, "My team's, or the manifest's own"), *((q, q) for q in queues)]
    blocks = [
        select(QUEUE, "Queue", options, ANY, live=False),
        line(SIZE, "Size: pods x GPUs of each, and the card", "2x8 h100"),
        upload(FILE, "or a manifest", FILETYPES),
        lines(PASTE, "or paste it", "", PASTED, _KINDS, optional=True),
    ]
    return _modal(blocks, channel) | {"submit": plain("Look"), "close": plain("Cancel")}


_KINDS = "A Job, JobSet, PyTorchJob, RayJob, Workload or the like. Nothing is started."


def read(view: Mapping[str, Any]) -> Wish:
    """Read what was asked from a view payload, whatever state it is in."""
    values = (view.get("state") or {}).get("values") or {}
    found = {e: v for actions in values.values() for e, v in actions.items()}
    queue = str((_part(found, QUEUE).get("selected_option") or {}).get("value") or "")
    files = _part(found, FILE).get("files") or []
    return Wish(
        queue="" if queue == ANY else queue,
        size=str(_part(found, SIZE).get("value") or "").strip(),
        file=str(files[0].get("id") or "") if files else "",
        paste=str(_part(found, PASTE).get("value") or "").strip(),
    )


def wrong(wish: Wish) -> dict[str, str]:
    """Return a sentence for each field that can't be as it is; {} when one thing is asked."""
    if holds_manifest(wish.size):
        return {SIZE: "A size is like 2x8 h100. A manifest goes below."}
    given = [b for b, v in ((SIZE, wish.size), (FILE, wish.file), (PASTE, wish.paste)) if v]
    return {} if len(given) == 1 else dict.fromkeys(given or (SIZE,), _ONE)


def question(wish: Wish, uploaded: str = "") -> str:
    """Return the question in words, as if it had been typed after /gpu."""
    where = f" --queue {wish.queue}" if wish.queue else ""
    if wish.size:
        return f"fit {wish.size}{where}"
    return f"fit{where}\n---\n{uploaded or wish.paste}"


def channel_of(view: Mapping[str, Any]) -> str:
    """Return the channel that the modal was opened in, "" for none."""
    return str(metadata(view).get("channel", ""))


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = found.get(name)
    return part if isinstance(part, Mapping) else {}


def _modal(blocks: list[dict[str, Any]], channel: str) -> View:
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "title": plain(TITLE),
        "close": plain("Close"),
        "blocks": blocks,
        "private_metadata": channel,
    }
