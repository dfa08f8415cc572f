"""[pure] Lines as Slack's rich_text elements, where nothing is ever parsed, and as mrkdwn."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from bot.text import bar, inert
from commands.page import Bold, Code, Line, Link, Person, Span, Time

Element = dict[str, Any]
Resolver = Callable[[str], str | None]
"""From a person's id to a Slack user id; None when the person is to be named only."""
MOST_TEXT = 3_000
_BAR_CELLS = 30
_MOST_URL = 3_000
_SCHEMES = ("https://", "http://")
_FORMATTING = re.compile(r"([*_~`])")
_BROKEN_ENTITY = re.compile(r"(&[a-z]{0,4}|<[^<>]*)$")


def nobody(person: str) -> str | None:
    """Resolve no one: people are named by their id instead of mentioned."""
    del person
    return None


def section(line: Line, who: Resolver) -> Element:
    """Return a line of prose as one rich_text_section of at most 3,000 characters."""
    return {"type": "rich_text_section", "elements": _elements(line, who, MOST_TEXT)}


def bullets(items: Sequence[Line], who: Resolver) -> Element:
    """Return a bulleted list."""
    each = MOST_TEXT // max(1, len(items))
    return {
        "type": "rich_text_list",
        "style": "bullet",
        "elements": [
            {"type": "rich_text_section", "elements": _elements(item, who, max(80, each))}
            for item in items
        ],
    }


def quote_elements(text: str, source: str) -> list[Element]:
    """Return a quotation with its source before it."""
    quote = {"type": "rich_text_quote", "elements": [_text(shorten(inert(text), MOST_TEXT))]}
    return [*_heading(f"{source}:" if source else ""), quote]


def bar_elements(amounts: Sequence[tuple[str, int]], caption: str) -> list[Element]:
    """Return a bar as text with its words after it, so that it is never colour or shape alone."""
    drawn, said = bar(amounts, _BAR_CELLS)
    elements = [*([_text(drawn, code=True), _text(" ")] if drawn else []), _text(said)]
    return [*_heading(caption), {"type": "rich_text_section", "elements": elements}]


def diff_elements(path: str, lines: Sequence[str]) -> list[Element]:
    """Return a diff in fixed width; lines that don't fit are counted."""
    shown: list[str] = []
    room = MOST_TEXT
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            shown.append(f"... {len(lines) - len(shown)} more lines")
            break
        shown.append(inert(line))
    return [*_heading(path), preformatted("\n".join(shown))]


def preformatted(text: str) -> Element:
    """Return text in fixed width."""
    return {"type": "rich_text_preformatted", "elements": [_text(text)]}


def mrkdwn(line: Line, who: Resolver) -> str:
    """Return a line in Slack's mrkdwn with everything that came from outside made inert."""
    return "".join(_mrkdwn_span(span, who) for span in line)


def label(text: str, most: int) -> str:
    """Return words for a plain_text field; Slack refuses empty ones."""
    return shorten(inert(text).strip(), most) or "-"


def shorten(text: str, most: int) -> str:
    """Cut to ``most`` characters, ending in an ellipsis and never inside an entity or a tag."""
    if len(text) <= most:
        return text
    return _BROKEN_ENTITY.sub("", text[: most - 1]) + "…"


def _elements(line: Line, who: Resolver, most: int) -> list[Element]:
    elements = []
    for span in line:
        element = _element(span, who)
        if "text" in element:
            if most <= 0:
                break
            element["text"] = shorten(element["text"], most)
            most -= len(element["text"])
        elements.append(element)
    return elements or [_text("")]


def _element(span: Span, who: Resolver) -> Element:
    match span:
        case str():
            return _text(inert(span))
        case Bold(text=text):
            return _text(inert(text), bold=True)
        case Code(text=text):
            return _text(inert(text).replace("`", "'"), code=True)
        case Person(id=person):
            user = who(person)
            return {"type": "user", "user_id": user} if user else _text(f"@{inert(person)}")
        case Time():
            return _date(span)
        case Link(text=text, url=url):
            if not _leads_somewhere(url):
                return _text(inert(text))
            return {"type": "link", "url": url, "text": inert(text) or url}


def _date(time: Time) -> Element:
    return {
        "type": "date",
        "timestamp": int(time.at.timestamp()),
        "format": "{time_secs}" if time.clock else "{date_short_pretty} {time}",
        "fallback": _utc(time),
    }


def _text(text: str, **style: bool) -> Element:
    """Build a text element; Slack refuses an empty text."""
    return {"type": "text", "text": text or " ", **({"style": style} if style else {})}


def _heading(words: str) -> list[Element]:
    if not words:
        return []
    return [{"type": "rich_text_section", "elements": [_text(inert(words), bold=True)]}]


def _mrkdwn_span(span: Span, who: Resolver) -> str:
    match span:
        case str():
            return _escape(span)
        case Bold(text=text):
            return f"*{_escape(text)}*" if inert(text).strip() else ""
        case Code(text=text):
            verbatim = _entities(inert(text)).replace("`", "'")
            return f"`{verbatim}`" if verbatim.strip() else ""
        case Person(id=person):
            user = who(person)
            return f"<@{user}>" if user else f"@{_escape(person)}"
        case Time():
            date = _date(span)
            return f"<!date^{date['timestamp']}^{date['format']}|{date['fallback']}>"
        case Link(text=text, url=url):
            if not _leads_somewhere(url):
                return _escape(text)
            return f"<{_entities(url).replace('|', '%7C')}|{_escape(text).replace('|', '/')}>"


def _escape(text: str) -> str:
    """Make data inert in mrkdwn: no tags, and no emphasis that it did not get from us."""
    return _FORMATTING.sub("\u2060\\1", _entities(inert(text)))


def _leads_somewhere(url: str) -> bool:
    return url.startswith(_SCHEMES) and len(url) <= _MOST_URL


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _utc(time: Time) -> str:
    return f"{time.at:%H:%M:%S} UTC" if time.clock else f"{time.at:%Y-%m-%d %H:%M} UTC"
