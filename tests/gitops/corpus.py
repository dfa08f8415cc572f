"""Edit every value of capacity policy in a folder of manifests, and count what came of it.

``python -m tests.gitops.corpus [DIR]`` takes any folder, flat or nested, and prints the counts. Its
exit code is 1 when an edit changed more or less than it should, or a refusal's reason isn't true.
"""

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from capacity.errors import GpubotError, Refused
from capacity.quantity import same
from gitops.manifest import Edit, apply
from gitops.manifest_sites import LIMITS, Site, sites
from gitops.manifest_text import read
from tests.gitops.oracle import complaint, load

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "corpus"
ENDINGS = {".yaml", ".yml", ".json", ".tpl", ".tftpl", ".j2"}
NAMES = {"Kustomization"}
NEW = {"quantity": ("7", "11"), "integer": ("7", "11"), "text": ("zz-9", "zz-8")}
TRUE_REASONS = {
    "takes its value from a template": re.compile(r"\{\{|\$\{|%\{|\{%"),
    "is a template that may add keys": re.compile(r"\{\{|\$\{|%\{|\{%"),
    "is repeated by a loop": re.compile(""),
    "takes its value from the alias": re.compile(r"\*\w"),
    "is the anchor": re.compile(r"&\w"),
    "holds more than one value": re.compile(r"[{\[*]|:\s*(#.*)?$"),
    "has the key, but no value": re.compile(r":\s*(#.*)?$"),
    "holds a text block": re.compile(r"[|>][-+0-9]*\s*(#.*)?$"),
    "has a value that spans lines": re.compile(r":"),
    "a second time": re.compile(r":"),
    "merges other keys in": re.compile(r"<<"),
    "which doesn't keep its lines": re.compile(r":|-"),
    "is the first key of its list item": re.compile(r"-\s"),
    "is the only key there": re.compile(":"),
    "over several lines": re.compile(""),
    "shares its line with more": re.compile(""),
}


@dataclass
class Counts:
    """What came of it all; ``wrong`` must stay empty."""

    most: int | None = None
    files: int = 0
    about_capacity: int = 0
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the report."""
        yield f"{self.files} files, {self.about_capacity} of them with capacity policy"
        yield f"{'':32}{'exact':>8}{'refused':>9}"
        for name in sorted({*self.done, *self.refused}):
            yield f"{name:32}{self.done[name]:8}{self.refused[name]:9}"
        total, refused = self.done.total(), self.refused.total()
        attempted = total + len(self.wrong)
        share = 100 * total / attempted if attempted else 100
        yield f"{'together':32}{total:8}{refused:9}   {share:.2f} % exact of what is not refused"
        for reason, count in self.reasons.most_common():
            yield f"  refused {count:5} times: {reason}"
        if self.seconds:
            ordered = sorted(self.seconds)
            middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
            yield f"one edit: median {middle * 1e3:.1f} ms of CPU, 95th percentile {high * 1e3:.1f} ms"
        yield from (f"WRONG {what}" for what in self.wrong)


def run(folder: Path, most: int | None = None) -> Counts:
    """Edit everything in a folder, or at most so many values of each file, spread evenly."""
    counts = Counts(most)
    for path in sorted(p for p in folder.rglob("*") if p.suffix in ENDINGS or p.name in NAMES):
        if path.is_file() and not path.is_symlink():
            counts.files += 1
            _file(str(path.relative_to(folder)), path.read_bytes(), counts)
    return counts


def edits_of(path: str, site: Site) -> Iterator[tuple[str, Edit]]:
    """Yield the edits to try at a site: another value, each missing limit, each limit removed."""
    first, second = NEW[site.kind]
    held = site.held
    taken = held is not None and (held == first or (site.kind != "text" and _same(held, first)))
    name = site.field if "." not in site.field else "mig-devices"
    old = held if held is not None else "?"
    yield (
        f"replace {name}",
        Edit(path, site.pointer, site.field, old, second if taken else first, site.kind),
    )
    if site.field == "nominalQuota":
        for limit in LIMITS:
            if limit not in site.siblings:
                yield f"insert {limit}", Edit(path, site.pointer, limit, None, "16")
    if site.field in LIMITS and held is not None:
        yield f"remove {site.field}", Edit(path, site.pointer, site.field, held, None)


def _file(path: str, data: bytes, counts: Counts) -> None:
    try:
        found = list(sites(read(path, data)))
    except Refused as refusal:
        if _mentions(data):
            counts.refused["whole file"] += 1
            counts.reasons[_reason(refusal)] += 1
            if load_or_none(data) is not None and "grows without" not in refusal.sentence:
                counts.wrong.append(f"{refusal.sentence} but PyYAML reads it")
        return
    counts.about_capacity += bool(found)
    step = max(1, len(found) // counts.most) if counts.most else 1
    for site in found[::step]:
        for name, edit in edits_of(path, site):
            _edit(name, edit, data, counts)


def _edit(name: str, edit: Edit, data: bytes, counts: Counts) -> None:
    started = time.thread_time()
    try:
        done = apply(edit.path, data, [edit])
    except Refused as refusal:
        counts.refused[name] += 1
        counts.reasons[_reason(refusal)] += 1
        if not _is_true(refusal, data):
            counts.wrong.append(f"{refusal.sentence} isn't a true reason ({refusal.detail})")
        return
    except GpubotError as error:
        counts.wrong.append(f"{name} {edit.path} {edit.pointer}: {error.sentence}")
        return
    counts.seconds.append(time.thread_time() - started)
    said = complaint(data, done.data, edit)
    if said:
        counts.wrong.append(f"{name} {edit.path} {edit.pointer}: {said}")
    else:
        counts.done[name] += 1


def _is_true(refusal: Refused, data: bytes) -> bool:
    """Look at the line that a refusal names, whether it is as the refusal says."""
    place = re.search(r":(\d+)\b", refusal.sentence)
    pattern = next((p for words, p in TRUE_REASONS.items() if words in refusal.sentence), None)
    if place is None or pattern is None:
        return False
    lines = data.decode().splitlines()
    number = int(place[1])
    return number <= len(lines) and pattern.search(lines[number - 1]) is not None


def _reason(refusal: Refused) -> str:
    words = re.sub(r"^\S+:\d+ ", "", refusal.sentence)
    if words.startswith("can't be parsed"):
        return words.partition(":")[0]
    return re.sub(r"\(.*\)|\*\w+|&\w+|'[^']*'", "...", words)


def _mentions(data: bytes) -> bool:
    return re.search(rb"nominalQuota|timeSlicing|mig-configs|kueue", data) is not None


def load_or_none(data: bytes) -> object:
    try:
        return load(data)
    except UnicodeDecodeError:
        return None


def _same(a: str, b: str) -> bool:
    try:
        return same(a, b)
    except GpubotError:
        return False


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    folder = parser.parse_args().folder
    if not folder.is_dir():
        print(f"{folder} isn't there; name another folder: make corpus CORPUS=DIR")
        return 2
    counts = run(folder)
    print("\n".join(counts.lines()))
    return 1 if counts.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
