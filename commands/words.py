"""How amounts, cards and durations are said, the same everywhere.

[pure]
"""

import re
from datetime import datetime, timedelta

from capacity.model import UNLIMITED, FlavorResource
from capacity.quantity import to_text

_CARD = re.compile(r"[a-z]{1,3}\d{1,4}[a-z]{0,2}")
_MIG = re.compile(r"nvidia\.com/mig-(.+)")
_GPU = re.compile(r"(^|[./-])(gpu|mig-|gpumem|vgpu)")


def is_gpu(resource: str) -> bool:
    """Tell whether the resource counts GPUs or parts of them."""
    return bool(_GPU.search(resource))


def card(pair: FlavorResource) -> str:
    """Return what a unit is called: "H100", "GPUs (spot)", "MIG 1g.10gb (a100)", "CPU (x)"."""
    slice_ = _MIG.fullmatch(pair.resource)
    if slice_:
        return f"MIG {slice_[1]} ({pair.flavor})"
    if is_gpu(pair.resource):
        plain = _CARD.fullmatch(pair.flavor)
        return pair.flavor.upper() if plain else f"GPUs ({pair.flavor})"
    return f"{'CPU' if pair.resource == 'cpu' else pair.resource} ({pair.flavor})"


def amount(pair: FlavorResource, units: int) -> str:
    """Return a number with its card: "4 H100", "36Gi memory (default)"."""
    return f"{number(pair.resource, units)} {card(pair)}"


def number(resource: str, units: int) -> str:
    """Return an amount alone: "44" cards, "53.5" CPU cores, "36Gi", "unlimited"."""
    if units >= UNLIMITED:
        return "unlimited"
    if is_gpu(resource):
        return str(units)
    if resource == "cpu":
        return f"{units / 1000:.3f}".rstrip("0").rstrip(".")
    return to_text(resource, units)


def count(n: int, one: str, many: str = "") -> str:
    """Return "1 job" or "3 jobs"."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def span(duration: timedelta) -> str:
    """Return a duration in one or two units: "12 s", "41 min", "3 h 5 min", "2 d 4 h"."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 60:
        return f"{minutes} min"
    if hours < 24:
        return f"{hours} h" + (f" {minutes % 60} min" if minutes % 60 and hours < 10 else "")
    return f"{days} d" + (f" {hours % 24} h" if hours % 24 and days < 10 else "")


def since(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was; a moment ahead of our clock is "0 s"."""
    return span(now - moment)


def listing(names: list[str] | tuple[str, ...], last: str = "and", most: int = 6) -> str:
    """Return "a", "a and b", "a, b and c", and "a, b and 7 more" when there are many."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
