"""Who must approve a change, and is it met? The policy's answer as an explained tree.

The first rule that fits decides. The requester is nobody's candidate, nobody counts for two
requirements, and a role is looked up now: whoever lost it since their vote no longer counts. What
can't be met by anybody stays unmet. [pure]
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from capacity.quantity import to_amount
from gitops.needs import Need, fill, leaves, unmet
from gitops.people import People
from gitops.request import Draft, Facts, Vote
from gitops.roles import need_of
from gitops.rules import Match, Policy


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy says about one request.

    ``need`` is None when no rule is about the change; ``why`` says why it is not allowed.
    ``rule`` names the rule that fits, ``policy`` is the file's hash.
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
        found = (leaf.roles[person] for leaf in leaves(self.need) if person in leaf.roles)
        return tuple(dict.fromkeys(found))

    def waiting_for(self) -> tuple[Need, ...]:
        """Return the leaves that are not met and still matter, for "waiting for ..."."""
        return unmet(self.need)

    def words(self) -> str:
        """Say in one phrase who must still approve: "an owner of serving and one of platform"."""
        return _words(self.need, only_unmet=True) if self.need and not self.need.met else ""

    def all_words(self) -> str:
        """Say in one phrase whose approval the change needs in all."""
        return (_words(self.need) if self.need else "") or "nobody's approval"


def judge(
    policy: Policy, people: People, draft: Draft, facts: Facts, votes: Sequence[Vote]
) -> Verdict:
    """Judge a change by the policy; ``votes`` are those about its present content.

    Deny without rules (missing, empty or faulty files), without a fitting rule, and for a
    requester that is not in people.yaml.
    """
    doubt = _doubt(policy, people, draft)
    if doubt:
        return Verdict(False, False, "", doubt, policy.hash)
    rule = next((r for r in policy.rules if fits(r.match, people, draft, facts)), None)
    if rule is None:
        why = "No rule of the policy allows this change."
        if facts.edited:
            why = "The pull request was edited by hand, and no rule of the policy allows that."
        return Verdict(False, False, "", why, policy.hash)
    need = need_of(rule.needs, people, draft, facts)
    hopeless = _hopeless(need)
    if hopeless:
        return Verdict(False, False, rule.name, hopeless, policy.hash, need)
    allowed = Verdict(True, False, rule.name, "", policy.hash, need)
    rejection = next(
        (v for v in votes if v.choice == "reject" and allowed.roles_of(v.person)), None
    )
    approvers = list(dict.fromkeys(v.person for v in votes if v.choice == "approve"))
    filled = fill(need, approvers)
    met = filled.met and rejection is None
    return replace(allowed, met=met, need=filled, rejected_by=rejection)


def may_ask(policy: Policy, people: People, person: str, cluster_queue: str) -> bool:
    """Tell whether this person may ask for changes to this queue."""
    if person not in people.people:
        return False
    return "anyone" in policy.requesters or _holds(policy.requesters, people, person, cluster_queue)


def fits(match: Match, people: People, draft: Draft, facts: Facts) -> bool:
    """Tell whether a rule is about this change: every condition it gives must hold."""
    names = (
        (match.kinds, draft.kind),
        (match.queues, draft.cluster_queue),
        (match.teams, draft.team),
        (match.flavors, draft.flavor),
        (match.resources, draft.resource),
        (match.clusters, draft.cluster),
    )
    return (
        match.edited == facts.edited
        and all(_named(patterns, name) for patterns, name in names)
        and (
            not match.asked_by
            or _holds(match.asked_by, people, draft.requester, draft.cluster_queue)
        )
        and match.change in ("", "raise" if facts.raises else "lower")
        and _small_enough(match, draft, facts)
    )


def _holds(words: Iterable[str], people: People, person: str, cluster_queue: str) -> bool:
    """Tell whether the person is one of these: "owner" or "team" of the queue, or in a group."""
    team = people.team_of_queue(cluster_queue)
    roles = {name for name, members in people.groups.items() if person in members}
    if team and person in team.owners:
        roles |= {"owner", "team"}
    if team and person in team.members:
        roles.add("team")
    return not roles.isdisjoint(words)


def _small_enough(match: Match, draft: Draft, facts: Facts) -> bool:
    if match.at_most:
        most = to_amount(draft.resource, match.at_most)
        if facts.delta is None or abs(facts.delta) > most:
            return False
    if match.percent_at_most is not None and (
        facts.percent is None or facts.percent > match.percent_at_most
    ):
        return False
    if match.for_at_most is None:
        return True
    return facts.lasts is not None and facts.lasts <= match.for_at_most


def _named(patterns: Iterable[str], name: str) -> bool:
    patterns = tuple(patterns)
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _doubt(policy: Policy, people: People, draft: Draft) -> str:
    for path, problems in (("policy", policy.problems), ("people", people.problems)):
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            return f"gpubot/{path}.yaml allows nothing as it stands: {problems[0]}{more}."
    if draft.requester not in people.people:
        return "The requester is not in gpubot/people.yaml."
    return ""


def _hopeless(need: Need) -> str:
    """Say what can't be met even if everybody approved who may; "" if it can be met."""
    everybody = dict.fromkeys(who for leaf in leaves(need) for who in leaf.candidates)
    at_best = fill(need, tuple(everybody))
    if at_best.met:
        return ""
    lacking = " and ".join(leaf.text for leaf in unmet(at_best))
    return f"Nobody but the requester could approve as {lacking}."


def _words(need: Need, *, only_unmet: bool = False, inside: bool = False) -> str:
    if need.op == "people":
        return need.text
    children = [c for c in need.children if not (only_unmet and c.met)]
    parts = [_words(child, only_unmet=only_unmet, inside=True) for child in children]
    joined = (" and " if need.op == "all" else " or ").join(dict.fromkeys(parts))
    return f"({joined})" if inside and len(parts) > 1 else joined
