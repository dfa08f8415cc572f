"""Who a repository wants to look at a change of a file: CODEOWNERS, and Prow's OWNERS.

Upstream: https://docs.github.com/articles/about-code-owners (the last matching line wins; GitLab's
sections are read as lines), https://go.k8s.io/owners (the nearest folder with an OWNERS file).
[pure]
"""

import re
from collections.abc import Callable, Iterable, Iterator

from gitops.strict_yaml import load

CODEOWNERS = tuple(
    f"{folder}CODEOWNERS" for folder in ("", ".github/", ".gitea/", ".gitlab/", "docs/")
)
MOST = 5
Read = Callable[[str], bytes | None]


def reviewers_of(paths: Iterable[str], read: Read) -> tuple[str, ...]:
    """Return logins, and teams as ORG/TEAM, to ask for a review: at most five.

    CODEOWNERS goes before OWNERS; addresses of e-mail are left out, since no forge can be asked
    for them. A file that can't be read as such names nobody.
    """
    code = next((text for name in CODEOWNERS if (text := _text(read(name)))), None)
    found: dict[str, None] = {}
    for path in paths:
        owners = code_owners(code, path) if code is not None else prow_owners(path, read)
        found |= dict.fromkeys(owners)
    return tuple(found)[:MOST]


def code_owners(text: str, path: str) -> tuple[str, ...]:
    """Return the owners of a path by a CODEOWNERS file; a line without owners takes them away."""
    owners: tuple[str, ...] = ()
    for line in text.splitlines():
        words = re.split(r"(?<!\\)\s+", line.split(" #")[0].strip())
        if not words[0] or words[0][0] in "#[^!":
            continue
        if _matches(words[0].replace("\\ ", " "), path):
            owners = tuple(w[1:] for w in words[1:] if re.fullmatch(r"@[\w./-]+", w))
    return owners


def prow_owners(path: str, read: Read) -> tuple[str, ...]:
    """Return the reviewers, else approvers, of the nearest OWNERS file above a path."""
    folders = path.split("/")[:-1]
    for depth in range(len(folders), -1, -1):
        raw = read("/".join((*folders[:depth], "OWNERS")))
        if raw is not None:
            return tuple(_prow(raw))
    return ()


def _prow(raw: bytes) -> Iterator[str]:
    said = load(raw, "OWNERS")
    names = said.texts("reviewers") or said.texts("approvers")
    yield from (name for name in names if re.fullmatch(r"[\w.-]+", name))


def _matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern, with the rules of .gitignore, is about a path."""
    anchored = "/" in pattern.rstrip("/")
    words = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", pattern.lstrip("/"))
    known = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(known.get(word, re.escape(word)) for word in words)
    start = "" if anchored else "(?:.*/)?"
    # "docs/*" is about the files in docs, not about those in folders below it.
    end = ".*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    return re.fullmatch(f"{start}{body}{end}", path) is not None


def _text(data: bytes | None) -> str | None:
    return data.decode("utf-8", "replace") if data is not None else None
