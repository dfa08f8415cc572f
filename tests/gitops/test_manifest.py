"""Edits by hand-written examples: what is kept, what is refused, and with which words."""

import pytest

from capacity.errors import Conflict, Refused, UsageError
from gitops.manifest import Edit, Inside, Named, Pointer, apply, look
from gitops.manifest_sites import sites
from gitops.manifest_text import read

GPU = Pointer(0, ("spec", Named("name", "gpu")))


def quota(text: str) -> bytes:
    return text.encode()


def replaced(data: bytes, old: str = "8", new: str = "16", pointer: Pointer = GPU) -> bytes:
    return apply("q.yaml", data, [Edit("q.yaml", pointer, "nominalQuota", old, new)]).data


def inserted(data: bytes, new: str = "16", pointer: Pointer = GPU) -> bytes:
    return apply("q.yaml", data, [Edit("q.yaml", pointer, "borrowingLimit", None, new)]).data


def removed(data: bytes, pointer: Pointer = GPU, old: str = "4") -> bytes:
    return apply("q.yaml", data, [Edit("q.yaml", pointer, "borrowingLimit", old, None)]).data


BLOCK = "spec:\n- name: gpu\n  nominalQuota: 8\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BLOCK, BLOCK.replace("8", "16")),
        ("spec:\n  - name: gpu\n    nominalQuota:   '8'   # eight\n", "spec:\n  - name: gpu\n    nominalQuota:   '16'   # eight\n"),
        ('spec:\n- {name: gpu, nominalQuota: "8"}\n', 'spec:\n- {name: gpu, nominalQuota: "16"}\n'),
        ('{"spec":[{"name":"gpu","nominalQuota":8}]}', '{"spec":[{"name":"gpu","nominalQuota":16}]}'),
        ("spec:\n- name: gpu\n  nominalQuota:\n    8\n", "spec:\n- name: gpu\n  nominalQuota:\n    16\n"),
        ("spec:\n- name: gpu\n  nominalQuota: !!str 8\n", "spec:\n- name: gpu\n  nominalQuota: !!str 16\n"),
        ("spec:\n- name: gpu\n  nominalQuota: &q 8\n", "spec:\n- name: gpu\n  nominalQuota: &q 16\n"),
        ("spec:\n- name: gpu\n  nominalQuota:\t8\t# tab\n", "spec:\n- name: gpu\n  nominalQuota:\t16\t# tab\n"),
        ("spec:\n- ? name\n  : gpu\n  nominalQuota: 8\n", "spec:\n- ? name\n  : gpu\n  nominalQuota: 16\n"),
        ("# é ☃ 🎉 8\nspec:\n- name: gpu\n  nominalQuota: 8 # 🎉\n", "# é ☃ 🎉 8\nspec:\n- name: gpu\n  nominalQuota: 16 # 🎉\n"),
        ("spec:\n- name: gpu\n  nominalQuota: 8", "spec:\n- name: gpu\n  nominalQuota: 16"),
        ("%YAML 1.1\n---\nspec:\n- name: gpu\n  nominalQuota: 8\n...\n", "%YAML 1.1\n---\nspec:\n- name: gpu\n  nominalQuota: 16\n...\n"),
    ],
)  # fmt: skip
def test_only_the_digits_change(before: str, after: str) -> None:
    assert replaced(quota(before)) == quota(after)


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_byte_order_mark_and_the_last_newline_are_kept(
    eol: str, bom: bytes, *, last: bool
) -> None:
    text = ("# ü\n" + BLOCK + "other: x\n").replace("\n", eol)
    data = bom + (text if last else text.removesuffix(eol)).encode()
    assert replaced(data) == data.replace(b": 8", b": 16")
    added = f"  nominalQuota: 8{eol}  borrowingLimit: 16{eol}".encode()
    assert inserted(data) == data.replace(f"  nominalQuota: 8{eol}".encode(), added)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BLOCK, BLOCK + "  borrowingLimit: 16\n"),
        (BLOCK.removesuffix("\n"), "spec:\n- name: gpu\n  borrowingLimit: 16\n  nominalQuota: 8"),
        ("spec:\n- nominalQuota: '8' # x\n  name: gpu\n", "spec:\n- nominalQuota: '8' # x\n  borrowingLimit: '16'\n  name: gpu\n"),
        ("spec: [{name: gpu, nominalQuota: 8}]", "spec: [{name: gpu, nominalQuota: 8, borrowingLimit: 16}]"),
        ("spec:\n- {nominalQuota: 8, name: gpu}\n", "spec:\n- {nominalQuota: 8, borrowingLimit: 16, name: gpu}\n"),
        ('spec:\n- {\n    "name": "gpu",\n    "nominalQuota": "8"\n  }\n', 'spec:\n- {\n    "name": "gpu",\n    "nominalQuota": "8", "borrowingLimit": "16"\n  }\n'),
        ("spec:\n-   name: gpu\n    nominalQuota: 8\n\n# end\n", "spec:\n-   name: gpu\n    nominalQuota: 8\n    borrowingLimit: 16\n\n# end\n"),
        ('spec:\n- name: gpu\n  "nominalQuota": 8\n', 'spec:\n- name: gpu\n  "nominalQuota": 8\n  "borrowingLimit": 16\n'),
    ],
)  # fmt: skip
def test_a_key_is_inserted_as_its_neighbour_is_written(before: str, after: str) -> None:
    assert inserted(quota(before)) == quota(after)


def test_an_insertion_that_must_touch_the_last_line_adds_only_bytes() -> None:
    data = quota("spec:\n- name: gpu\n- nominalQuota: 8")
    done = inserted(data, pointer=Pointer(0, ("spec", 1)))
    assert done == data + b"\n  borrowingLimit: 16"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BLOCK + "  borrowingLimit: 4 # four\n", BLOCK),
        ("spec:\n- name: gpu\n  borrowingLimit: 4\n  nominalQuota: 8\n", BLOCK),
        ("spec:\n- name: gpu\n  nominalQuota: 8\n  borrowingLimit: 4", BLOCK),
        ("spec: [{name: gpu, borrowingLimit: 4}]\n", "spec: [{name: gpu}]\n"),
        ("spec: [{borrowingLimit: 4, name: gpu}]\n", "spec: [{name: gpu}]\n"),
        ("spec: [{a: 1, borrowingLimit: '4', name: gpu}]\n", "spec: [{a: 1, name: gpu}]\n"),
    ],
)
def test_a_key_is_removed_with_its_line(before: str, after: str) -> None:
    assert removed(quota(before)) == quota(after)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spec:\n- name: gpu\n  nominalQuota: *q\nq: &q 8\n", "q.yaml:3 can't be parsed"),
        ("q: &q 8\nspec:\n- name: gpu\n  nominalQuota: *q\n", "q.yaml:4 takes its value from the alias *q"),
        ("spec:\n- name: gpu\n  nominalQuota: &q 8\nq: *q\n", "q.yaml:3 is the anchor &q, also used at q.yaml:4"),
        ("spec: &s\n- name: gpu\n  nominalQuota: 8\nr: *s\n", "q.yaml:1 is the anchor &s, also used at q.yaml:4"),
        ("spec:\n- name: gpu\n  nominalQuota: 8\n  nominalQuota: 8\n", "q.yaml:4 has the key 'nominalQuota' a second time"),
        ("a: 1\na: 2\nspec:\n- name: gpu\n  nominalQuota: 8\n", "q.yaml:2 has the key 'a' a second time"),
        ("spec:\n- name: gpu\n  nominalQuota: 8\n- name: gpu\n", "q.yaml:2 and q.yaml:4 are both spec[name=gpu]"),
        ("spec:\n- name: gpu\n  nominalQuota: |\n    8\n", "q.yaml:3 holds a text block"),
        ("spec:\n- name: gpu\n  nominalQuota:\n", "q.yaml:3 has the key, but no value"),
        ("spec:\n- name: gpu\n  nominalQuota: [8]\n", "q.yaml:3 holds more than one value"),
        ('spec:\n- name: gpu\n  nominalQuota: "8\n    "\n', "q.yaml:3 has a value that spans lines"),
        ("spec:\n- name: gpu\n  nominalQuota: ${gpus}\n", "q.yaml:3 takes its value from a template (${gpus})"),
        ("spec:\n- name: gpu\n  nominalQuota: {{ .Values.gpus }}\n", "q.yaml:3 takes its value from a template"),
        ("{{- range .x }}\nspec:\n- name: gpu\n  nominalQuota: 8\n{{- end }}\n", "q.yaml:4 is repeated by a loop"),
        ("spec:\n- name: gpu\n  nominalQuota: 8\n bad\n", "q.yaml:4 can't be parsed as YAML"),
        ("spec: [{name: gpu, nominalQuota: 8]\n", "q.yaml:1 can't be parsed as YAML"),
    ],
)  # fmt: skip
def test_doubtful_places_are_refused_with_reason_and_line(text: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        replaced(quota(text))
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("b: &b {borrowingLimit: 1}\nspec:\n- name: gpu\n  <<: *b\n", "q.yaml:4 merges other keys in, borrowingLimit among them (q.yaml:1)"),
        ("spec:\n- name: gpu\n  nominalQuota: 8\n  {{- toYaml .limits | nindent 2 }}\n", "q.yaml:4 is a template that may add keys there"),
        ("{{ range .x }}\nspec:\n- name: gpu\n  nominalQuota: 8\n{{ end }}\n", "is repeated by a loop"),
    ],
)  # fmt: skip
def test_insertions_that_may_be_set_elsewhere_are_refused(text: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        inserted(quota(text))
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spec:\n- borrowingLimit: 4\n  name: gpu\n", "q.yaml:2 is the first key of its list item"),
        (
            "spec: [{name: gpu,\n  borrowingLimit: 4}]\n",
            "q.yaml:2 is part of a flow mapping over several lines",
        ),
    ],
)
def test_removals_that_would_move_more_are_refused(text: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        removed(quota(text))
    assert words in caught.value.sentence


def test_the_only_key_is_not_removed() -> None:
    with pytest.raises(Refused, match="is the only key there"):
        removed(quota("spec:\n- borrowingLimit: 4\n"), Pointer(0, ("spec", 0)))


def test_a_merge_key_that_says_something_else_does_not_matter() -> None:
    text = "b: &b {x: 1}\nspec:\n- name: gpu\n  <<: *b\n  nominalQuota: 8\n"
    assert inserted(quota(text)) == quota(text + "  borrowingLimit: 16\n")
    assert replaced(quota(text)) == quota(text.replace(": 8", ": 16"))


@pytest.mark.parametrize(
    ("held", "expected"),
    [("8", "8000m"), ("'8'", "8"), ("8.0", "8"), ("8k", "8000"), ("1Ki", "1024")],
)
def test_quantities_are_compared_by_value(held: str, expected: str) -> None:
    assert b": 16" in replaced(quota(BLOCK.replace("8", held)), old=expected).replace(b"'", b"")


@pytest.mark.parametrize("held", ["9", "eight", "8 9"])
def test_another_value_than_expected_is_a_conflict(held: str) -> None:
    with pytest.raises(
        Conflict, match=r"nominalQuota \(q.yaml:3\) is .*, not 8 as expected; nothing was changed"
    ):
        replaced(quota(BLOCK.replace("8", held)))


def test_every_other_surprise_is_a_conflict_too() -> None:
    with pytest.raises(Conflict, match="has no spec"):
        replaced(quota("other: 1\n"))
    with pytest.raises(Conflict, match="no longer has a document 3"):
        replaced(quota(BLOCK), pointer=Pointer(2, ()))
    with pytest.raises(Conflict, match="is 4, was expected to be unset"):
        inserted(quota(BLOCK + "  borrowingLimit: 4\n"))
    with pytest.raises(Conflict, match="isn't set, not 4 as expected"):
        removed(quota(BLOCK))
    with pytest.raises(Conflict, match="is 8 already"):
        replaced(quota(BLOCK), new="8000m")


@pytest.mark.parametrize(
    ("asked", "written"),
    [("16", "16"), ("16000m", "16"), ("0.5", "500m"), ("1.5Gi", "1536Mi"), ("1024Mi", "1Gi")],
)
def test_new_quantities_are_canonical(asked: str, written: str) -> None:
    assert replaced(quota(BLOCK), new=asked) == quota(BLOCK.replace("8", written))


@pytest.mark.parametrize("asked", ["sixteen", "-1", "", "16\n  evil: 1", "16 # x"])
def test_what_is_no_quantity_is_never_written(asked: str) -> None:
    with pytest.raises(UsageError):
        replaced(quota(BLOCK), new=asked)


def test_null_is_the_same_as_absent() -> None:
    text = BLOCK + "  borrowingLimit: null # none\n"
    assert inserted(quota(text)) == quota(text.replace("null", "16"))
    assert look("q.yaml", quota(text), GPU, "borrowingLimit") == (None, 4)
    with pytest.raises(Conflict, match="is null, not 4 as expected"):
        removed(quota(text))


VERSION = Edit("d.yaml", Pointer(0, ("driver",)), "version", "570.1.1", "580.10", "text")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("driver:\n  version: 570.1.1\n", 'driver:\n  version: "580.10"\n'),
        ('driver:\n  version: "570.1.1"\n', 'driver:\n  version: "580.10"\n'),
        ("driver: {version: '570.1.1'}\n", "driver: {version: '580.10'}\n"),
    ],
)
def test_text_that_looks_like_a_number_stays_text(before: str, after: str) -> None:
    assert apply("d.yaml", before.encode(), [VERSION]).data == after.encode()


def test_other_lines_with_the_old_version_are_listed() -> None:
    text = "a: image:570.1.1\ndriver:\n  version: 570.1.1 # was 570.1.10\nb: 570.1.12\n"
    done = apply("d.yaml", text.encode(), [VERSION])
    assert [(m.number, m.text) for m in done.elsewhere] == [(1, "a: image:570.1.1")]


@pytest.mark.parametrize(
    ("text", "stale"),
    [
        (
            "spec:\n# 8 of 64\n- name: gpu # all 8\n  # own: 8\n  nominalQuota: 8 # 8 nodes\n",
            [2, 3, 4, 5],
        ),
        ("spec:\n# 88, 8.5, x8, 8x, v8\n- name: gpu\n  nominalQuota: 8 # 80\n", []),
        ("# 8\n\nspec:\n- name: gpu\n  nominalQuota: 8\n# 8 after\n", []),
    ],
)
def test_comments_that_repeat_the_old_number_are_found(text: str, stale: list[int]) -> None:
    done = apply("q.yaml", text.encode(), [Edit("q.yaml", GPU, "nominalQuota", "8", "16")])
    assert [mention.number for mention in done.stale] == stale


CONFIG = """\
data:
  a: |-
    # first
    sharing:
      resources:
      - name: gpu
        replicas: 4   # four

  b: |2+
      deep: [{name: gpu, replicas: 4}]
BLANK
  kustomize: |
    patch: |
      - op: replace
        path: /spec/replicas
        value: 4
  folded: >
    replicas: 4
  quoted: "replicas: 4"
""".replace("BLANK", " " * 8)


@pytest.mark.parametrize(
    ("steps", "key", "line"),
    [
        (("data", "a", Inside(), "sharing", "resources", Named("name", "gpu")), "replicas", 7),
        (("data", "b", Inside(), "deep", 0), "replicas", 10),
        (("data", "kustomize", Inside(), "patch", Inside(), 0), "value", 16),
    ],
)
def test_values_inside_literal_blocks_are_edited_in_place(
    steps: tuple, key: str, line: int
) -> None:
    pointer = Pointer(0, steps)
    assert look("c.yaml", CONFIG.encode(), pointer, key) == ("4", line)
    done = apply("c.yaml", CONFIG.encode(), [Edit("c.yaml", pointer, key, "4", "8", "integer")])
    lines = CONFIG.splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace("4", "8", 1)
    assert done.data.decode() == "".join(lines)


def test_a_line_is_inserted_inside_a_literal_block_with_its_margin() -> None:
    pointer = Pointer(0, ("data", "a", Inside(), "sharing", "resources", Named("name", "gpu")))
    edit = Edit("c.yaml", pointer, "rename", None, "x", "text", beside="replicas")
    done = apply("c.yaml", CONFIG.encode(), [edit]).data.decode()
    assert done == CONFIG.replace("# four\n", "# four\n        rename: x\n")


@pytest.mark.parametrize(
    ("key", "what"), [("folded", "a folded block"), ("quoted", "a quoted text")]
)
def test_texts_that_do_not_keep_their_lines_are_refused(key: str, what: str) -> None:
    with pytest.raises(Refused, match=what):
        look("c.yaml", CONFIG.encode(), Pointer(0, ("data", key, Inside())), "replicas")


def test_an_anchor_in_one_document_is_not_another_s() -> None:
    text = "a: &x 1\n---\nspec:\n- name: gpu\n  nominalQuota: &x 8\n---\nb: &x 2\nc: *x\n"
    done = replaced(text.encode(), pointer=Pointer(1, GPU.steps))
    assert done == text.replace(": &x 8", ": &x 16").encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a: 1\nspec: \xe9\n", "q.yaml:2 isn't UTF-8"),
        ("spec: 1\n".encode("utf-16"), "q.yaml:1 isn't UTF-8"),
        (b"spec: \x00\n", "q.yaml:1 can't be parsed"),
        (b"a: b\n\tspec: 1\n", "q.yaml:2 can't be parsed"),
    ],
)
def test_bytes_that_are_no_yaml_text_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(Refused) as caught:
        replaced(data)
    assert words in caught.value.sentence


HELM = """\
{{- if .Values.enabled }}
{{- /* a comment
over lines */}}
kind: ClusterQueue
metadata:
  name: {{ .Release.Name }}-q
  labels:
    {{- include "labels" . | nindent 4 }}
spec:
- name: gpu
  nominalQuota: 8   {{/* eight */}}
{{- else }}
other: {{ .x | default "a: b" }}
{{- end }}
"""


def test_literals_in_templates_are_edited_and_the_template_kept() -> None:
    assert replaced(HELM.encode()) == HELM.replace(": 8 ", ": 16 ").encode()


PAYLOAD = """\
data:
  queues.yaml: |-
{{- if .Values.gpu }}
    spec:
{{- range .Values.flavors }}
    # {{ . }}
{{- end }}
    - name: gpu
      nominalQuota: 8
{{- end }}
  other:{{ toYaml .Values.other | nindent 4 }}
  last: x
"""


def test_a_text_block_between_template_lines_is_edited() -> None:
    pointer = Pointer(0, ("data", "queues.yaml", Inside(), *GPU.steps))
    assert replaced(PAYLOAD.encode(), pointer=pointer) == PAYLOAD.replace(": 8", ": 16").encode()
    assert (
        inserted(PAYLOAD.encode(), pointer=pointer)
        == PAYLOAD.replace(": 8\n", ": 8\n      borrowingLimit: 16\n").encode()
    )


TERRAFORM = """\
%{ if gpu ~}
spec:
- name: gpu
  nominalQuota: 8
  label: ${region}-${lookup({a = 1}, "a")}
%{ endif ~}
"""


def test_literals_in_terraform_templates_are_edited() -> None:
    assert replaced(TERRAFORM.encode()) == TERRAFORM.replace(": 8", ": 16").encode()


def test_several_edits_of_one_file_are_made_in_turn() -> None:
    edits = [
        Edit("q.yaml", GPU, "borrowingLimit", None, "4"),
        Edit("q.yaml", GPU, "nominalQuota", "8", "16"),
        Edit("q.yaml", GPU, "borrowingLimit", "4", None),
    ]
    assert apply("q.yaml", BLOCK.encode(), edits).data == BLOCK.replace("8", "16").encode()


def test_every_site_of_a_file_is_listed_with_its_place() -> None:
    text = (
        BLOCK.replace("spec", "fairSharing: {weight: 2}\ncohort: ml\nspec") + "  lendingLimit: 2\n"
    )
    found = [
        (str(s.pointer), s.field, s.held, s.line) for s in sites(read("q.yaml", text.encode()))
    ]
    assert sorted(found) == [
        ("", "cohort", "ml", 2),
        ("fairSharing", "weight", "2", 1),
        ("spec[name=gpu]", "lendingLimit", "2", 6),
        ("spec[name=gpu]", "nominalQuota", "8", 5),
    ]
