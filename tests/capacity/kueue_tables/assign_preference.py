"""Which of two ways to quota is the better one, and which flavor that makes of three."""

from dataclasses import dataclass, field

from capacity.fit_mode import Mode, Way
from capacity.model import FlavorFungibility
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.assign_notation import FIT, PREEMPT
from tests.capacity.kueue_tables.assign_rules import FILE, NEXT

BORROW = FlavorFungibility("TryNextFlavor", "TryNextFlavor", "BorrowingOverPreemption")
STOP_OTHERS = FlavorFungibility("TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing")
NO, NOBODY, STOP, FITS = Mode.NO_FIT, Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.FIT

PREFERRED = {
    "what fits rather than what must be preempted for": (Way(FITS), Way(STOP), NEXT, True),
    "what fits farther away, where borrowing is preferred": (
        Way(STOP, 1),
        Way(FITS, 2),
        BORROW,
        False,
    ),
    "what is nearer, where preemption is preferred": (
        Way(STOP, 1),
        Way(FITS, 2),
        STOP_OTHERS,
        True,
    ),
    "equally near, what fits": (Way(STOP, 1), Way(FITS, 1), STOP_OTHERS, False),
    "nobody to stop nearer isn't better than what fits": (
        Way(NOBODY, 1),
        Way(FITS, 2),
        STOP_OTHERS,
        False,
    ),
    "what fits is better than nobody to stop nearer": (
        Way(FITS, 2),
        Way(NOBODY, 1),
        STOP_OTHERS,
        True,
    ),
    "nobody to stop is better than never": (Way(NOBODY, 1), Way(NO), FlavorFungibility(), True),
    "never isn't better than nobody to stop": (Way(NO), Way(NOBODY, 1), FlavorFungibility(), False),
    "nobody to stop, the nearer": (Way(NOBODY, 1), Way(NOBODY, 2), STOP_OTHERS, True),
    "nobody to stop, not the farther": (Way(NOBODY, 2), Way(NOBODY, 1), STOP_OTHERS, False),
}
"""Two ways, the rules, and whether the first is preferred to the second."""


@dataclass(frozen=True)
class Case:
    """What is asked of uno, due and tre; what the queue and another use; the flavor found."""

    want: str
    asked: str
    used: str
    by_other: str
    flavor: str
    oracle: dict[str, tuple[Mode, int]] = field(default_factory=dict)
    rules: FlavorFungibility = field(default_factory=FlavorFungibility)


TEN = "gpu 10"
FIRST = Case(
    PREEMPT,
    TEN,
    "uno/gpu 1",
    "due/gpu 1, tre/gpu 1",
    "uno",
    rules=FlavorFungibility("MayStopSearch", "MayStopSearch"),
)
RECLAIM = {"uno/gpu": (STOP, 0), "due/gpu": (Mode.RECLAIM, 0), "tre/gpu": (Mode.RECLAIM, 0)}

BEFORE = {
    "the first that fits": Case(FIT, TEN, "uno/gpu 1", "due/gpu 1", "tre"),
    "the first that can be reclaimed": Case(
        PREEMPT, TEN, "uno/gpu 1", "due/gpu 1, tre/gpu 1", "due", RECLAIM
    ),
    "the first, where the search may stop": FIRST,
    "the first, where the search may stop, again": FIRST,
    "the first that can be had by priority": Case(
        PREEMPT, TEN, "uno/gpu 1, due/gpu 1, tre/gpu 1", "", "uno"
    ),
    "the first that can be reclaimed and has the other resource": Case(
        PREEMPT,
        "gpu 10, compute 10",
        "uno/gpu 1, uno/compute 1, due/compute 1",
        "due/gpu 1, tre/gpu 1",
        "tre",
        RECLAIM,
    ),
}

IS_PREFERRED = Table("TestIsPreferred", FILE, 10, (PREFERRED,))
RECLAIM_BEFORE = Table("TestReclaimBeforePriorityPreemption", FILE, 6, (BEFORE,))
TABLES = (IS_PREFERRED, RECLAIM_BEFORE)
