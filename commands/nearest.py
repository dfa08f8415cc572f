"""The closest names to a mistyped one, best first, and cheap at 100,000 names.

[pure]
"""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

_MOST_COMPARED = 4_000
_CUTOFF = 0.6


def nearest(word: str, names: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Return up to ``most`` names that the word may have meant; none if nothing is close.

    The same name in other case comes first, then names that begin with the word, then names of
    few differing letters. Of very many names, only those of similar length are compared.
    """
    wanted = word.casefold()
    by_folded = {name.casefold(): name for name in names}
    found = [by_folded[wanted]] if wanted in by_folded else []
    if len(wanted) >= 2:
        found += sorted(n for f, n in by_folded.items() if f.startswith(wanted) and f != wanted)
    near = (f for f in by_folded if abs(len(f) - len(wanted)) <= 3)
    compared = list(islice(near, _MOST_COMPARED))
    found += [by_folded[f] for f in get_close_matches(wanted, compared, most, _CUTOFF)]
    return tuple(dict.fromkeys(found))[:most]
