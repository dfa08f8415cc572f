"""Real manifests: every value edited, every missing limit inserted, nothing else changed."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError as RuamelError

from capacity.errors import Conflict, Refused
from gitops.fragments import scan
from gitops.manifest import Edit, Pointer, apply
from gitops.manifest_sites import sites
from gitops.manifest_text import read
from gitops.manifest_tree import Alias, Mapping, Node, Scalar, Sequence, parse
from tests.gitops.corpus import NEW, run
from tests.gitops.oracle import complaint, differences

pytestmark = pytest.mark.shared
FULL = os.environ.get("GPUBOT_REQUIRE_ALL") == "1"


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Path:
    folder = shared / "corpus"
    if not folder.is_dir():
        pytest.skip("no corpus of public manifests beside the checkout")
    return folder


def test_every_edit_changes_only_the_intended_bytes(corpus: Path) -> None:
    """All values of all files in CI; elsewhere up to 8 of each file (`make corpus` does all)."""
    counts = run(corpus, None if FULL else 8)
    assert not counts.wrong, "\n".join(counts.wrong[:20])
    assert counts.about_capacity >= 100
    assert counts.done.total() >= (4000 if FULL else 1000)
    assert counts.refused.total() < counts.done.total() / 20


def test_spans_are_those_of_pyyaml_s_own_parser(corpus: Path) -> None:
    """libyaml's offsets against the pure parser's, which counts characters itself."""
    compared = 0
    for path in sorted(corpus.glob("*.yaml"))[::7]:
        text = read(path.name, path.read_bytes())
        if text.templates:
            continue
        nodes = list(yaml.compose_all(text.text, yaml.BaseLoader))
        for document, node in zip(
            (d for d in parse(text) if d.root), filter(None, nodes), strict=True
        ):
            compared += same_spans(document.root, node, text.text)
    assert compared > 1000


def same_spans(ours: Node | None, theirs: yaml.Node, text: str) -> int:
    if isinstance(ours, Alias):
        return 1
    if isinstance(ours, Scalar):
        raw = text[theirs.start_mark.index : theirs.end_mark.index]
        assert ours.value == theirs.value
        if ours.style not in ("|", ">"):
            assert raw.endswith(text[ours.start : ours.end])
        return 1
    assert ours is not None
    assert ours.start == theirs.start_mark.index
    if isinstance(ours, Sequence):
        pairs = zip(ours.items, theirs.value, strict=True)
        return sum(same_spans(a, b, text) for a, b in pairs)
    assert isinstance(ours, Mapping)
    pairs = zip(ours.entries, theirs.value, strict=True)
    return sum(same_spans(a[0], b[0], text) + same_spans(a[1], b[1], text) for a, b in pairs)


def test_ruamel_reads_the_same_after_all_edits_of_a_file(corpus: Path) -> None:
    """ruamel.yaml as a third opinion: after all edits of a file its tree differs just there."""
    checked = 0
    for path in sorted(corpus.glob("*.yaml"))[::5]:
        data = path.read_bytes()
        text = read(path.name, data)
        before = ruamel(data)
        if text.templates or before is None:
            continue
        found = [s for s in sites(text) if s.held is not None and "|" not in str(s.pointer)]
        edits = [
            Edit(
                path.name, s.pointer, s.field, s.held, NEW[s.kind][s.held == NEW[s.kind][0]], s.kind
            )
            for s in found
        ]
        if not edits:
            continue
        after = ruamel(apply(path.name, data, edits).data)
        assert len(list(differences(before, after))) == len(edits), path.name
        checked += len(edits)
    assert checked > 100


def ruamel(data: bytes) -> list[object] | None:
    try:
        return list(YAML(typ="base", pure=True).load_all(data.decode()))
    except RuamelError:
        return None


def test_any_scalar_can_be_edited_exactly(corpus: Path) -> None:
    """Not only capacity: a few values of every file, picked evenly."""
    done = 0
    for path in sorted(corpus.glob("*.yaml")):
        data = path.read_bytes()
        found = [
            spot
            for number, document in enumerate(parse(read(path.name, data)))
            for spot in scalars(document.root, Pointer(number))
        ]
        for pointer, key, value in found[:: max(1, len(found) // 4)]:
            edit = Edit(path.name, pointer, key, value, "zz-1", "text")
            with suppress(Refused, Conflict):
                after = apply(path.name, data, [edit]).data
                assert not complaint(data, after, edit), (path.name, pointer, key)
                done += 1
    assert done > 500


def scalars(node: Node | None, pointer: Pointer) -> Iterator[tuple[Pointer, str, str]]:
    if isinstance(node, Mapping):
        for key, value in node.entries:
            if isinstance(key, Scalar) and isinstance(value, Scalar):
                yield pointer, key.value, value.value
            elif isinstance(key, Scalar):
                yield from scalars(value, pointer / key.value)
    elif isinstance(node, Sequence):
        for position, item in enumerate(node.items):
            yield from scalars(item, pointer / position)


def test_nothing_in_the_corpus_is_unreadable(corpus: Path) -> None:
    unreadable = {
        path.name: facts.unreadable
        for path in corpus.glob("*.yaml")
        if (facts := scan(path.read_bytes())).unreadable
    }
    assert not unreadable


def test_the_oracle_sees_a_change_too_many() -> None:
    before = b"a: 1\nb: 2\nc: {d: 3, e: 4}\n"
    edit = Edit("x", Pointer(), "a", "1", "7")
    assert not complaint(before, b"a: 7\nb: 2\nc: {d: 3, e: 4}\n", edit)
    for wrong in (
        b"a: 7\nb: 3\nc: {d: 3, e: 4}\n",
        b"a: 7\nb: 2\nc: {d: 3,  e: 4}\n",
        b"a: 1\nb: 7\nc: {d: 3, e: 4}\n",
        b"a: 7\n",
    ):
        assert complaint(before, wrong, edit)
