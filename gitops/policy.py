"""Who must approve a change, and is it met? The policy's answer as an explained tree. [pure]"""

from dataclasses import dataclass

from gitops.request import Vote


@dataclass(frozen=True, slots=True)
class Need:
    """One requirement: a leaf ("1 of platform") or all/any of its children.

    ``candidates`` are the people who may meet a leaf (never the requester), ``met_by`` those whose
    approval is counted for it: nobody is counted for two leaves.
    """

    text: str
    met: bool
    op: str = "people"  # "people", "all" or "any"
    count: int = 1
    role: str = ""
    candidates: tuple[str, ...] = ()
    met_by: tuple[str, ...] = ()
    children: tuple["Need", ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy says about one request.

    ``need`` is None when no rule allows the change at all (``why`` says so) and also when nobody
    has to approve (then ``met``). ``rule`` names the rule that matched.
    """

    allowed: bool
    met: bool
    rule: str
    why: str
    policy: str
    need: Need | None = None
    rejected_by: Vote | None = None

    def roles_of(self, person: str) -> tuple[str, ...]:
        """Return the roles through which this person may approve; none means no right."""
        return tuple(
            dict.fromkeys(leaf.role for leaf in leaves(self.need) if person in leaf.candidates)
        )

    def waiting_for(self) -> tuple[Need, ...]:
        """Return the leaves that are not met and still matter, for "waiting for ..."."""
        return tuple(_open(self.need))


def leaves(need: Need | None) -> list[Need]:
    """Return the leaves of a tree, left to right."""
    if need is None:
        return []
    if not need.children:
        return [need]
    return [leaf for child in need.children for leaf in leaves(child)]


def _open(need: Need | None) -> list[Need]:
    if need is None or need.met:
        return []
    if not need.children:
        return [need]
    return [leaf for child in need.children for leaf in _open(child)]
