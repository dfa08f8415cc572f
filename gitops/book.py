"""The policy and the people in force: read from the tip of the GitOps repository's base branch."""

from dataclasses import dataclass
from functools import lru_cache

from gitops import people_file, policy_file
from gitops.people import People
from gitops.policy import Verdict, judge
from gitops.ports import Source
from gitops.request import Request
from gitops.rules import Policy


@dataclass(frozen=True, slots=True)
class Book:
    """What is in force at a commit."""

    commit: str
    policy: Policy
    people: People

    def verdict(self, request: Request) -> Verdict:
        """Judge a request by what is in force now and by the votes that stand."""
        return judge(self.policy, self.people, request.draft, request.facts, request.standing_votes)


def read_book(source: Source) -> Book:
    """Read both files at the tip; missing or faulty ones allow nothing. Raises SourceDown."""
    commit = source.head()
    policy = _policy(source.read(policy_file.PATH, commit))
    return Book(commit, policy, _people(source.read(people_file.PATH, commit)))


_policy = lru_cache(maxsize=4)(policy_file.parse)
_people = lru_cache(maxsize=4)(people_file.parse)
