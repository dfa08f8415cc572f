"""Requirements of the policy to people: who holds which role for this change, now.

[pure]
"""

from collections.abc import Iterable, Mapping

from gitops.needs import Need
from gitops.people import People
from gitops.request import Draft, Facts
from gitops.rules import AllOf, AnyOf, Group, Named, Of, Owners, Requirement


def need_of(requirement: Requirement, people: People, draft: Draft, facts: Facts) -> Need:
    """Return the unmet tree of a requirement; the requester is never among the candidates."""
    match requirement:
        case AllOf(parts):
            children = tuple(need_of(part, people, draft, facts) for part in parts)
            return Need("all of these", op="all", children=children)
        case AnyOf(parts):
            children = tuple(need_of(part, people, draft, facts) for part in parts)
            return Need("one of these", op="any", children=children)
        case Group(name, count):
            text = f"{_number(count)} of {name}"
            return _leaf(
                text, count, dict.fromkeys(people.groups.get(name, ()), name), people, draft
            )
        case Named(names, count):
            text = " or ".join(names) if count == 1 else f"{count} of {', '.join(names)}"
            return _leaf(text, count, {n: f"{n} by name" for n in names}, people, draft)
        case Owners(of, count):
            return _owners(of, count, people, draft, facts)


def _owners(of: Of, count: int, people: People, draft: Draft, facts: Facts) -> Need:
    queues = _queues(of, draft, facts)
    if of.startswith("every ") and queues:
        each = tuple(_owners_of((queue,), count, people, draft) for queue in queues)
        return Need(f"an owner of {of}", op="all", children=each)
    if not queues:
        return Need(f"an owner of {of} (there is none)", count=count)
    return _owners_of(queues, count, people, draft)


def _owners_of(queues: Iterable[str], count: int, people: People, draft: Draft) -> Need:
    roles: dict[str, str] = {}
    for queue in queues:
        for owner in people.owners_of_queue(queue):
            roles.setdefault(owner, f"owner of {queue}")
    number = "an owner" if count == 1 else f"{count} owners"
    return _leaf(f"{number} of {' or '.join(queues)}", count, roles, people, draft)


def _queues(of: Of, draft: Draft, facts: Facts) -> tuple[str, ...]:
    if of == "queue":
        return (draft.cluster_queue,)
    return facts.lenders if of.endswith("lender") else facts.borrowers


def _leaf(text: str, count: int, roles: Mapping[str, str], people: People, draft: Draft) -> Need:
    able = {who: role for who, role in roles.items() if who in people.people}
    able.pop(draft.requester, None)
    return Need(text, count=count, roles=able)


def _number(count: int) -> str:
    return "one" if count == 1 else str(count)
