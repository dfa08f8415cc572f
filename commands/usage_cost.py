"""What the hours cost, when the repository says what an hour costs.

[pure]
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from capacity.usage import PodHours
from gitops.prices import Prices

_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Cost:
    """What was held and what of it was idle, in ``currency``, to the cent.

    ``unpriced`` are held GPU-hours on cards without a price; they are in neither sum.
    """

    currency: str
    held: Decimal
    idle: Decimal
    unpriced: float


def cost(pods: Iterable[PodHours], prices: Prices | None) -> Cost | None:
    """Return the cost of these hours; None when there are no (readable) prices."""
    if prices is None or prices.problems:
        return None
    held = idle = Decimal(0)
    unpriced = 0.0
    for pod in pods:
        price = prices.of(pod.model)
        if price is None:
            unpriced += pod.hours.held
            continue
        held += price * Decimal(pod.hours.held)
        idle += price * Decimal(pod.hours.idle)
    return Cost(prices.currency, _rounded(held), _rounded(idle), unpriced)


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(_CENT, ROUND_HALF_UP)
