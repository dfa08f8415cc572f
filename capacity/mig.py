"""What a MIG slice weighs against a whole card, by a declared policy [pure].

Compute slices are sevenths and memory slices eighths of an A100, H100, H200, B200 or B300; both are
quarters on A30 and RTX PRO 6000 (NVIDIA MIG user guide; mig-parted's examples). ``3g.40gb`` is 3/7
of the compute but 4/8 of the memory: two of them fill a card, so the fair price is the larger.
"""

import re
from fractions import Fraction
from typing import Literal

Policy = Literal["max", "compute", "memory"]
PROFILE = re.compile(r"^(?P<compute>\d)g\.(?P<memory>\d+)gb")


def weight(profile: str, model: str = "", policy: Policy = "max") -> Fraction:
    """Return the share of one card that a slice of this profile takes; 1 for "" (a whole card).

    ``model`` is dcgm-exporter's modelName: A30 and RTX PRO 6000 divide into quarters. A profile
    that can't be read raises ValueError: a slice is never billed by a guess.
    """
    if not profile:
        return Fraction(1)
    match = PROFILE.match(profile)
    if match is None:
        raise ValueError(f"unknown MIG profile {profile!r}")
    compute, gigabytes = int(match["compute"]), int(match["memory"])
    if _quartered(model):
        return Fraction(compute, 4)
    by_compute = Fraction(compute, 7)
    by_memory = _memory_share(compute, gigabytes, model)
    return {"compute": by_compute, "memory": by_memory, "max": max(by_compute, by_memory)}[policy]


def _quartered(model: str) -> bool:
    return "A30" in model or "RTX PRO 6000" in model


def _memory_share(compute: int, gigabytes: int, model: str) -> Fraction:
    """Eighths of memory: 1, 1, 2, 4, 4, 8 for 1g, (none), 2g, 3g, 4g, 7g; a big 1g has two."""
    eighths = {1: 1, 2: 2, 3: 4, 4: 4, 7: 8}.get(compute)
    if eighths is None:
        raise ValueError(f"no MIG profile has {compute} compute slices")
    if compute == 1 and gigabytes >= _big_slice(model):
        eighths = 2
    return Fraction(eighths, 8)


def _big_slice(model: str) -> int:
    """GB from which a 1g slice is the one with two memory slices, by the card's memory."""
    for name, limit in (
        ("A100-SXM4-40GB", 10), ("A100-PCIE-40GB", 10), ("GB300", 70), ("B300", 67), ("GB200", 47),
        ("B200", 45), ("144G", 36), ("GH200", 24), ("H200", 35), ("NVL", 24), ("96GB", 24),
    ):  # fmt: skip
        if name in model:
            return limit
    return 20
