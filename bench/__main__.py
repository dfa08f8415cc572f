"""The design's performance goals, one line each: ``python -m bench [P1 P2 P3 P4 P6 P8]``.

``NAME FIGURE UNIT goal GOAL ok|short``; lines that begin with # say what stands behind them. On a
shared machine single figures are noisy, so goals against a peer are ratios from the same run.
"""

import sys

from bench import acks, answers, arithmetic, edits, first_sync

MEASURES = {
    "P8": arithmetic.main,
    "P6": edits.main,
    "P1": acks.main,
    "P3": first_sync.main,
    "P2": answers.main,
}
SAME = {"P4": "P3"}


def main(wanted: list[str]) -> int:
    names = {SAME.get(name.upper(), name.upper()) for name in wanted} or set(MEASURES)
    unknown = names - MEASURES.keys()
    if unknown:
        sys.stderr.write(
            f"no such measure: {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}\n"
        )
        return 2
    for name, measure in MEASURES.items():
        if name in names:
            measure()
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
