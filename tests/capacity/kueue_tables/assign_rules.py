"""Whether to preempt, to borrow or to try the next flavor."""

from dataclasses import replace

from capacity.causes import Kind
from capacity.fit_mode import Mode
from capacity.model import FlavorFungibility, Preemption
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.assign_notation import FIT, NO_FIT, PREEMPT, Case, main
from tests.capacity.kueue_tables.assign_search import CASES as SEARCH

FILE = "pkg/scheduler/flavorassigner/flavorassigner_test.go"
STOP = FlavorFungibility("MayStopSearch", "MayStopSearch")
NEXT = FlavorFungibility("TryNextFlavor", "TryNextFlavor")
BORROW_NEXT = FlavorFungibility("TryNextFlavor", "MayStopSearch")
BORROWER = Preemption("LowerPriority", borrow_within_cohort="LowerPriority")
AT_ONE = {"one/cpu": (Mode.PREEMPT, 1)}
NONE = {"one/cpu": (Mode.NO_CANDIDATES, 0)}
ON_ONE, ON_TWO = {"main": "cpu one, pods one"}, {"main": "cpu two, pods two"}
NINE_ON_ONE, NINE_ON_TWO = "one/cpu 9, one/pods 1", "two/cpu 9, two/pods 1"
LIMITED = "one: pods 10, cpu 10/1 | two: pods 10, cpu {}"
LENDS = "one: pods 10, cpu 10//1 | two: pods 10, cpu {}//0"

BEFORE_NEXT = Case(
    PREEMPT,
    main("cpu 9"),
    ("one: pods 10, cpu 10 | two: pods 10, cpu 10",),
    {"main": "cpu one*, pods one"},
    NINE_ON_ONE,
    {"main": ("one: preempt, cpu 1 more",)},
    used="one/cpu 2",
    rules=STOP,
)
BORROW_FIRST = Case(
    FIT,
    main("cpu 9"),
    (LIMITED.format("1"),),
    ON_ONE,
    NINE_ON_ONE,
    {"main": ("one: fit 1", "two: no fit, cpu 0 + 9 > 1")},
    borrows=1,
    used="one/cpu 2",
    home="c",
    lender=("one: cpu 1",),
    rules=NEXT,
)
OVER = Case(
    PREEMPT,
    main("cpu 12"),
    ("one: cpu 0/12 | two: cpu 12",),
    {"main": "cpu one*"},
    "one/cpu 12",
    {"main": ("one: preempt 1, cpu 10 more",)},
    borrows=1,
    home="c",
    lender=("one: cpu 12",),
    lent="one/cpu 10",
    rules=STOP,
    preemption=BORROWER,
    oracle=AT_ONE,
)
UNLIMITED = replace(OVER, groups=("one: cpu 0 | two: cpu 12",))
FAIR = replace(UNLIMITED, fair=True, preemption=Preemption("Any"))
OVER_NEXT = replace(
    OVER,
    want=FIT,
    gives={"main": "cpu two"},
    usage="two/cpu 12",
    tries={"main": ("one: fit 1", "two: fit")},
    borrows=0,
    lent="",
    rules=BORROW_NEXT,
    oracle={},
)
FAIR_NEVER = replace(
    FAIR,
    want=FIT,
    gives={"main": "cpu two"},
    usage="two/cpu 12",
    tries={"main": ("one: no fit 1, cpu 10 more", "two: fit")},
    borrows=0,
    preemption=Preemption(),
    oracle=NONE,
)
NOBODY = Case(
    FIT,
    main("cpu 2"),
    ("one: cpu 0/2 | two: cpu 0/2",),
    {"main": "cpu two"},
    "two/cpu 2",
    {"main": ("one: no candidates, cpu 2 more", "two: fit 1")},
    borrows=1,
    home="c",
    lender=("one: cpu 2 | two: cpu 2",),
    lent="one/cpu 2",
    rules=STOP,
    preemption=BORROWER,
    oracle=NONE,
)

CASES = {
    "beyond nominal and limit, others in the queue may go": Case(
        PREEMPT,
        main("cpu 2"),
        ("one: cpu 2/8",),
        {"main": "cpu one*"},
        "one/cpu 2",
        {"main": ("one: preempt 1, cpu 1 more",)},
        borrows=1,
        used="one/cpu 9",
        home="c",
        lender=("one: cpu 98",),
        lent="one/cpu 9",
        oracle=AT_ONE,
    ),
    "beyond what is free, others in the queue may go": Case(
        PREEMPT,
        main("cpu 2"),
        ("one: cpu 2",),
        {"main": "cpu one*"},
        "one/cpu 2",
        {"main": ("one: preempt, cpu 1 more",)},
        used="one/cpu 1",
    ),
    "beyond what is free, others in cohort and queue may go": Case(
        PREEMPT,
        main("cpu 2"),
        ("one: cpu 3",),
        {"main": "cpu one*"},
        "one/cpu 2",
        {"main": ("one: preempt 1, cpu 2 more",)},
        borrows=1,
        used="one/cpu 2",
        home="c",
        lender=("one: cpu 7",),
        lent="one/cpu 8",
        oracle=AT_ONE,
    ),
    "preempts rather than tries the next flavor": BEFORE_NEXT,
    "preempts rather than tries the next flavor, again": BEFORE_NEXT,
    "tries the next flavor rather than preempts": replace(
        BEFORE_NEXT,
        want=FIT,
        gives=ON_TWO,
        usage=NINE_ON_TWO,
        tries={"main": ("one: preempt, cpu 1 more", "two: fit")},
        rules=FlavorFungibility(),
    ),
    "borrows after the next flavor was no better": BORROW_FIRST,
    "tries the next flavor rather than borrows": replace(
        BORROW_FIRST,
        groups=(LIMITED.format("10"),),
        gives=ON_TWO,
        usage=NINE_ON_TWO,
        tries={"main": ("one: fit 1", "two: fit")},
        borrows=0,
    ),
    "borrows rather than tries the next flavor": replace(
        BORROW_FIRST,
        groups=(LIMITED.format("10"),),
        tries={"main": ("one: fit 1",)},
        rules=FlavorFungibility(),
    ),
    "preempts while borrowing up to the limit": OVER,
    "preempts while borrowing up to the limit, again": OVER,
    "preempts while borrowing without a limit": UNLIMITED,
    "preempts while borrowing without a limit, again": UNLIMITED,
    "tries the next flavor rather than borrows by preemption": OVER_NEXT,
    "tries the next flavor rather than borrows by preemption, again": OVER_NEXT,
    "a limit beyond what the cohort ever has doesn't help": Case(
        NO_FIT,
        main("cpu 12"),
        ("one: cpu 0/12",),
        tries={"main": ("one: no fit, cpu 0 + 12 > 11",)},
        kind=Kind.EXCEEDS_MAX_QUOTA,
        home="c",
        lender=("one: cpu 11",),
        lent="one/cpu 10",
        preemption=BORROWER,
    ),
    "tries the next flavor, of which nothing is lent, rather than borrows": replace(
        BORROW_FIRST,
        groups=(LENDS.format("10"),),
        gives=ON_TWO,
        usage=NINE_ON_TWO,
        tries={"main": ("one: fit 1", "two: fit")},
        borrows=0,
    ),
    "borrows after the next flavor, of which nothing is lent, was too small": replace(
        BORROW_FIRST, groups=(LENDS.format("1"),)
    ),
    "nobody to preempt on the first flavor, the second fits": NOBODY,
    "nobody to preempt on the first flavor, the second fits, again": NOBODY,
    "quota is exhausted, others in cohort and queue may go": Case(
        PREEMPT,
        main("cpu 9"),
        ("one: pods 10, cpu 10//0",),
        {"main": "cpu one*, pods one"},
        NINE_ON_ONE,
        {"main": ("one: preempt 1, cpu 1 more",)},
        borrows=1,
        used="one/cpu 2",
        home="c",
        lender=("one: pods 0, cpu 0",),
        oracle=AT_ONE,
    ),
    "with fair sharing it reclaims while it borrows": FAIR,
    "with fair sharing it reclaims while it borrows, again": FAIR,
    "with fair sharing but never reclaiming it tries the next flavor": FAIR_NEVER,
    "with fair sharing but never reclaiming it tries the next flavor, again": FAIR_NEVER,
}

ASSIGN = Table(
    "TestAssignFlavors",
    FILE,
    60,
    (SEARCH, CASES),
    left_out={
        "reclaimable pods with their gate off": "gates show in no object",
        "two topologies in one pod set": "assignment of topologies",
    },
)
HIERARCHY = {
    "the top flavor, since the nearer ones are full": (
        "one: cpu 0 | two: cpu 0 | three: cpu 0",
        "one/cpu 4",
        "two/cpu 4",
        FlavorFungibility(),
        {},
        "three",
    ),
    "the first flavor that fits": (
        "one: cpu 0 | two: cpu 0 | three: cpu 0",
        "one/cpu 4",
        "",
        FlavorFungibility(),
        {},
        "two",
    ),
    "a farther flavor that fits rather than a nearer one with nobody to preempt": (
        "one: cpu 4/0 | two: cpu 0 | three: cpu 0",
        "one/cpu 4",
        "",
        FlavorFungibility("TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing"),
        {"one/cpu": (Mode.NO_CANDIDATES, 1)},
        "two",
    ),
}
"""The queue's group, what it and another queue use, its rules, the oracle; the flavor that fits."""

HIERARCHICAL = Table("TestHierarchical", FILE, 3, (HIERARCHY,))
TABLES = (ASSIGN, HIERARCHICAL)
