"""Edits of generated files with all oddities: exactly the intended bytes, or a refusal."""

import os
import re
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.errors import GpubotError, Refused
from capacity.quantity import canonical, same
from gitops.manifest import Edit, Pointer, apply
from gitops.manifest_sites import sites
from gitops.manifest_text import Text, read
from gitops.manifest_tree import parse
from tests.gitops.generated import NUMBERS, Sample, samples
from tests.gitops.oracle import complaint, load

EXAMPLES = int(os.environ.get("GPUBOT_EXAMPLES", "80"))
QUICK = settings(max_examples=EXAMPLES, deadline=None)


@QUICK
@given(samples(), NUMBERS)
def test_a_replaced_value_changes_just_its_bytes(sample: Sample, new: str) -> None:
    if same(sample.held, new):
        return
    edit = Edit("q.yaml", sample.pointer, "nominalQuota", sample.held, new)
    done = apply("q.yaml", sample.data, [edit]).data
    written = canonical(new)
    odd = not sample.quote and re.fullmatch(r"-?\d+([KMGTPE]i|[numkMGTPE])?", written) is None
    assert done == sample.with_value(f'"{written}"' if odd else written)
    assert not complaint(sample.data, done, edit)


@QUICK
@given(samples())
def test_an_inserted_key_adds_just_its_bytes(sample: Sample) -> None:
    edit = Edit("q.yaml", sample.pointer, "borrowingLimit", None, "7")
    done = apply("q.yaml", sample.data, [edit]).data.decode().removeprefix("\ufeff")
    pair = f"borrowingLimit: {sample.quote}7{sample.quote}"
    value = f"{sample.before}{sample.quote}{sample.held}{sample.quote}"
    if sample.flow:
        assert done == f"{value}, {pair}{sample.after}"
        return
    line, eol, rest = sample.after.partition(sample.eol)
    added = f"{sample.prefix}{pair}"
    if eol:
        assert done == f"{value}{line}{eol}{added}{eol}{rest}"
    else:
        head, _, last = value.rpartition(sample.eol)
        assert done == f"{head}{sample.eol}{added}{sample.eol}{last}{line}"


@QUICK
@given(samples())
def test_inserting_and_removing_gives_the_file_back(sample: Sample) -> None:
    put = Edit("q.yaml", sample.pointer, "borrowingLimit", None, "7")
    take = Edit("q.yaml", sample.pointer, "borrowingLimit", "7", None)
    assert apply("q.yaml", sample.data, [put, take]).data == sample.data


@QUICK
@given(samples(), NUMBERS, NUMBERS)
def test_there_and_back_by_value(sample: Sample, first: str, second: str) -> None:
    """Two edits in turn are one edit to the last value."""
    if same(sample.held, first) or same(first, second) or same(sample.held, second):
        return
    there = Edit("q.yaml", sample.pointer, "nominalQuota", sample.held, first)
    on = Edit("q.yaml", sample.pointer, "nominalQuota", first, second)
    direct = Edit("q.yaml", sample.pointer, "nominalQuota", sample.held, second)
    both = apply("q.yaml", sample.data, [there, on]).data
    once = apply("q.yaml", sample.data, [direct]).data
    assert both.replace(b'"', b"").replace(b"'", b"") == once.replace(b'"', b"").replace(b"'", b"")


@QUICK
@given(samples())
def test_the_quota_is_among_the_sites_of_its_file(sample: Sample) -> None:
    found = [site for site in sites(read("q.yaml", sample.data)) if site.pointer == sample.pointer]
    assert ("nominalQuota", sample.held) in {(site.field, site.held) for site in found}


@settings(max_examples=4 * EXAMPLES, deadline=None)
@given(
    st.binary(max_size=200)
    | st.text("a:-# \n\t\r'\"|>{}[],&*!%$é0\x85\u2028?", max_size=120).map(str.encode)
)
def test_any_bytes_are_edited_exactly_or_refused(data: bytes) -> None:
    """Whatever the bytes: an error with a sentence, or an edit that a second parser agrees with."""
    data = b"a:\n  nominalQuota: 5\n" + data
    try:
        found = list(sites(read("q.yaml", data)))
    except Refused:
        return
    for site in found:
        edit = Edit("q.yaml", site.pointer, site.field, site.held or "?", "7", site.kind)
        with suppress(GpubotError):
            done = apply("q.yaml", data, [edit])
            assert load(data) is None or not complaint(data, done.data, edit)


@settings(max_examples=3 * EXAMPLES, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a: {{ x }}\n",
                "{{- if y }}\n",
                "{{ end }}\n",
                "  b: |\n",
                "    {{ z }}\n",
                "    text\n",
                "- ${q}\n",
                "%{ for i in x ~}\n",
                "%{ endfor }\n",
                "c: 'x'\n",
                "{{/* é\n*/}}\n",
                "\r\n",
                "{%- set a = 1 %}\n",
            ]
        ),
        max_size=12,
    ).map("".join)
)
def test_masks_keep_every_offset(text: str) -> None:
    source = Text("q.yaml", text)
    for candidate in source.candidates():
        assert len(candidate) == len(text)
        assert all(c == m for c, m in zip(text, candidate, strict=True) if c in "\r\n")
    for start, end in source.templates:
        assert source.templated(start, end)
        assert text[start] in "{$%"


def test_the_parser_needs_no_recursion_for_deep_files() -> None:
    deep = "[" * 900 + "]" * 900
    assert parse(Text("q.yaml", deep))
    edit = Edit("q.yaml", Pointer(0, ("a",)), "b", "1", "2")
    data = f"a: {{b: 1}}\nc: {deep}\n".encode()
    assert apply("q.yaml", data, [edit]).data == data.replace(b"1", b"2")
