"""YAML with every oddity seen in real manifests, as Hypothesis strategies.

A generated file is built from lines whose meaning is known, so that a test can say what an edit
must give without any YAML library.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from gitops.manifest import Inside, Named, Pointer, Step

WORDS = st.sampled_from(
    [
        "team-a",
        "h100",
        "ünïcode",
        "日本",
        "x y",
        "a: b",
        "#no",
        "- dash",
        "8",
        "{{x",
        "'",
        '"',
        "on",
        "*star",
        "&and",
        "!bang",
        "100%",
        "@at",
        "`tick",
        "🎉",
    ]
)
COMMENTS = st.sampled_from(
    ["", "", " # eight", "  # 8 of 64 ☃", "\t# tab", " #", " # [END] 'x' \"y\" {z: 1}"]
)
NUMBERS = st.sampled_from(
    ["0", "8", "16", "1k", "500m", "36Gi", "8000m", "1.5", "0.5Gi", "1e3", "999999999999"]
)
QUOTES = st.sampled_from(["", "'", '"'])
EOLS = st.sampled_from(["\n", "\r\n"])


@dataclass(frozen=True)
class Sample:
    """A file, the pointer to the mapping in it, and how the value and its line are written."""

    data: bytes
    pointer: Pointer
    held: str
    quote: str
    before: str
    after: str
    eol: str
    bom: bytes
    flow: bool
    prefix: str

    def with_value(self, written: str) -> bytes:
        return self.bom + f"{self.before}{self.quote}{written}{self.quote}{self.after}".encode()


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@st.composite
def comment_lines(draw: st.DrawFn, margin: str) -> list[str]:
    kinds = st.sampled_from(["", "# comment 8", "#", "# é {{ }} ${x"])
    return [f"{margin}{line}" if line else "" for line in draw(st.lists(kinds, max_size=2))]


@st.composite
def neighbours(draw: st.DrawFn, margin: str) -> list[str]:
    """Other keys of the same mapping, and comments between them."""
    lines: list[str] = []
    for number in range(draw(st.integers(0, 2))):
        word, spaces = draw(WORDS), draw(st.sampled_from([" ", "  "]))
        shape = draw(st.sampled_from(["quoted", "double", "block", "flow", "empty", "multi"]))
        key = f"{margin}k{number}:"
        if shape == "quoted":
            lines.append(f"{key}{spaces}{quoted(word)}{draw(COMMENTS)}")
        elif shape == "double":
            lines.append(f'{key}{spaces}"\\u00e9 {word.replace(chr(34), "")}"')
        elif shape == "block":
            lines += [
                f"{key} {draw(st.sampled_from(['|', '|-', '>', '|+']))}",
                f"{margin}  nominalQuota: 8",
                f"{margin}  # {word}",
            ]
        elif shape == "flow":
            lines.append(f"{key} [1,  2 , {{a: {quoted(word)}}}]")
        elif shape == "empty":
            lines.append(key)
        else:
            lines += [f"{key} first", f"{margin}  second"]
        lines += draw(comment_lines(margin))
    return lines


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """A file with one quota to edit."""
    eol, bom = draw(EOLS), draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    quote, held, flow = draw(QUOTES), draw(NUMBERS), draw(st.booleans())
    documents = draw(st.integers(0, 2))
    lines: list[str] = []
    for number in range(documents):
        lines += [
            f"other: {number}",
            *draw(comment_lines("")),
            "---" + draw(st.sampled_from(["", " # next"])),
        ]
    nested = draw(st.booleans())
    steps: tuple[Step, ...] = ()
    margin = ""
    if nested:
        lines += ["data:", f"  payload: {draw(st.sampled_from(['|', '|-', '|+']))}"]
        steps, margin = ("data", "payload", Inside()), "    "
    dash = draw(st.sampled_from(["- ", "-   ", "  - "]))
    lines += [f"{margin}before: x", f"{margin}resources:"]
    inner = margin + " " * len(dash)
    value = f"{quote}{held}{quote}"
    if flow:
        head = f"{margin}{dash}{{name: gpu, nominalQuota: "
        tail = draw(st.sampled_from(["}", ", x: 1}", " }", ",  y: [1, 2]}"])) + draw(COMMENTS)
        rest: list[str] = []
    else:
        above = [f"{margin}{dash}name: gpu", *draw(neighbours(inner)), *draw(comment_lines(inner))]
        lines += above
        gap = draw(st.sampled_from([" ", "   ", "\t"]))
        head = f"{inner}nominalQuota:{gap}"
        tail = draw(COMMENTS) + draw(st.sampled_from(["", "", "  "]))
        rest = draw(neighbours(inner))
        rest = [line.replace("k0", "m0").replace("k1", "m1") for line in rest]
    rest += [f"{margin}after: y"] if draw(st.booleans()) else []
    if not nested:
        rest += draw(st.sampled_from([[], ["---", "last: 1"], ["..."]]))
    before = "".join(line + eol for line in lines) + head
    ending = draw(st.sampled_from([eol, ""]))
    after = eol.join([tail, *rest]) + ending
    data = bom + (before + value + after).encode()
    pointer = Pointer(documents, (*steps, "resources", Named("name", "gpu")))
    return Sample(data, pointer, held, quote, before, after, eol, bom, flow, inner)
