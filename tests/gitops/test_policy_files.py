"""Policy and people files are read strictly: every problem at once, and any problem denies."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops import people_file, policy_file
from gitops.people import Actor
from gitops.rules import NOBODY, AllOf, AnyOf, Group, Named, Owners
from tests.gitops.flow_fakes import SEED


def problems(text: str) -> tuple[str, ...]:
    policy = policy_file.parse(text.encode())
    assert not policy.rules
    return policy.problems


def test_the_playgrounds_files_are_sound() -> None:
    policy = policy_file.parse((SEED / "policy.yaml").read_bytes())
    people = people_file.parse((SEED / "people.yaml").read_bytes())
    assert not policy.problems
    assert not people.problems
    assert policy.approve_within == timedelta(days=3)
    assert policy.rules[2].needs == AnyOf((Group("platform"), Owners("any lender")))
    assert policy.rules[0].needs == NOBODY


def test_all_forms_of_requirements_are_read() -> None:
    text = """
rules:
  - name: r
    needs:
      all:
        - {group: platform, count: 2}
        - any: [{people: [li, tom], count: 2}, {owners_of: every borrower}]
"""
    policy = policy_file.parse(text.encode())
    assert not policy.problems
    assert policy.rules[0].needs == AllOf(
        (Group("platform", 2), AnyOf((Named(("li", "tom"), 2), Owners("every borrower"))))
    )


def test_all_problems_come_at_once_with_their_lines() -> None:
    found = problems("""requesters: [team, team]
clock: {}
clocks: {approve_within: 3 days}
limits: {open_per_person: 0}
rules:
  - name: r
    when: {kind: quota, queu: research, change: up, at_most: lots, edited: maybe}
    needs: {group: platform, owners_of: queue}
  - name: r
    needs: {owners_of: lenders, cuont: 1}
  - when: {}
    needs: nobody
  - name: none
""")
    text = "\n".join(found)
    for line, words in (
        (1, "'requesters' must be a list of different names"),
        (2, "unknown key 'clock'"),
        (3, "'approve_within' must be a duration"),
        (4, "'open_per_person' must be a whole number"),
        (7, "kind 'quota' is none of"),
        (7, "unknown key 'queu'"),
        (7, "'change' must be raise or lower"),
        (7, "'at_most' must be a quantity"),
        (7, "'edited' must be true or false"),
        (8, "a requirement has one of"),
        (10, "'owners_of' must be one of"),
        (10, "unknown key 'cuont'"),
        (11, "lacks 'name'"),
        (13, "lacks 'needs'"),
    ):
        assert f"line {line}: " in text
        assert words in text, (words, text)
    assert "2 rules are called 'r'" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("rules: []", "the file has no rules"),
        ("rules: {}", "'rules' must be a list"),
        ("- a", "must be a mapping"),
        ("rules: [oops", "expected"),
        ("rules: []\n---\nrules: []", "single document"),
        ("a: &x 1\nb: *x", "anchors and aliases"),
        ("rules: []\nrules: []", "'rules' is there twice"),
        ("rules: !!python/name:os.system x", "is not allowed here"),
        ("rules:\n- {name: r, needs: {all: []}}", "not empty"),
        ("rules:\n- {name: r, needs: {}}", "a requirement has one of"),
        ("rules:\n- {name: r, needs: null}", "must be a mapping"),
        ("rules:\n- {name: r, needs: {all: [nobody]}}", "must be a mapping"),
        ("rules:\n- {name: r, needs: {people: [li], count: 2}}", "can never be met"),
        ("rules:\n- {name: r, when: null, needs: nobody}", "must be a mapping"),
        ("[" * 100, "nested more than 20 deep"),
        ("[" * 5000, "nest"),
    ],
)
def test_whatever_is_wrong_denies_and_says_why(text: str, words: str) -> None:
    assert words in " ".join(problems(text))


def test_requirements_with_too_many_ways_are_refused() -> None:
    part = "{any: [{group: a}, {group: b}, {group: c}]}"
    assert "more than 64 ways" in " ".join(
        problems(f"rules:\n- {{name: r, needs: {{all: [{', '.join([part] * 4)}]}}}}")
    )


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_bytes_make_the_readers_fail(raw: bytes) -> None:
    policy, people = policy_file.parse(raw), people_file.parse(raw)
    assert policy.problems or policy.rules
    assert people.problems or people.people


def test_the_hash_is_of_the_exact_bytes() -> None:
    raw = (SEED / "policy.yaml").read_bytes()
    assert policy_file.parse(raw).hash != policy_file.parse(raw + b"\n").hash
    assert policy_file.parse(None).hash == policy_file.parse(b"").hash


GOOD = """people:
  ana: {name: Ana, slack: U0ANA, forge: ana}
  li: {name: Li, slack: U0LI, forge: LI}
teams:
  research: {members: [ana], owners: [li], cluster_queues: [research]}
groups:
  platform: [li]
"""


def people_problems(text: str) -> str:
    people = people_file.parse(text.encode())
    assert not people.people
    return "\n".join(people.problems)


def test_people_are_found_by_account_never_by_name() -> None:
    people = people_file.parse(GOOD.encode())
    assert people.problems == ()
    found = people.find(Actor("slack", "U0LI"))
    assert found is not None
    assert found.id == "li"
    assert people.find(Actor("forge", "li")) == found
    assert people.find(Actor("terminal", "li")) == found
    for actor in (
        Actor("slack", "Li"),
        Actor("slack", ""),
        Actor("forge", ""),
        Actor("slack", "li"),
    ):
        assert people.find(actor) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("U0LI", "U0ANA", "ana and li have the same Slack id U0ANA"),
        ("LI}", "ANA}", "ana and li have the same forge login ana"),
        ("U0LI", "li", "'li' is no Slack user id"),
        ("owners: [li]", "owners: [tom]", "'tom' in 'owners' is not one of the people"),
        ("platform: [li]", "platform: [kim]", "'kim' in 'platform' is not one of the people"),
        ("slack: U0LI", "slak: U0LI", "unknown key 'slak'"),
        ("ana: {name", "Ana Ruiz: {name", "is no id"),
        ("groups:", "group:", "unknown key 'group'"),
        (
            "groups:",
            "  other: {owners: [ana], cluster_queues: [research]}\ngroups:",
            "teams research and other both list queue research",
        ),
    ],
)
def test_problems_of_the_people_file(old: str, new: str, words: str) -> None:
    assert old in GOOD
    assert words in people_problems(GOOD.replace(old, new))


def test_a_people_file_without_people_says_so() -> None:
    assert "names nobody" in people_problems("people: {}")
    assert people_file.parse(None).problems == ("the file is missing",)
