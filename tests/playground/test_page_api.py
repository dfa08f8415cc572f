"""The page's own API: only this machine's page may use it, and it shows each person their own."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from bot.playground.fake_slack.server import FakeSlack
from bot.playground.page_server import FILES, PageServer
from bot.playground.serving import Serving


class StillWorld:
    """A world in which nothing happens but the speed."""

    def __init__(self) -> None:
        self.speed = 1.0

    def look(self) -> dict[str, Any]:
        return {"speed": self.speed}

    def set_speed(self, speed: float) -> None:
        self.speed = speed


@pytest.fixture
def page() -> Iterator[tuple[Serving, FakeSlack]]:
    slack = FakeSlack()
    server = PageServer(slack)
    serving = Serving(server.application())
    serving.start()
    slack.at(serving.url)
    serving.call(lambda: server.show(StillWorld()))
    yield serving, slack
    serving.stop()


def do(serving: Serving, headers: dict[str, str] | None = None, **gesture: Any) -> Any:
    ours = {"Origin": serving.url} if headers is None else headers
    return requests.post(f"{serving.url}/play/do", json=gesture, headers=ours, timeout=5)


SAY = {"gesture": "say", "user": "U0ANA", "channel": "C0RESEARCH", "text": "hello"}


def test_the_page_and_all_its_files_are_served_with_a_strict_policy(page: Any) -> None:
    serving, _ = page
    index = requests.get(serving.url, timeout=5)
    assert "default-src 'none'" in index.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in index.headers["Content-Security-Policy"]
    for file in FILES.iterdir():
        answer = requests.get(f"{serving.url}/page/{file.name}", timeout=5)
        assert answer.status_code == 200, file
        assert "://" not in answer.text.replace("http://www.w3.org/2000/svg", ""), file


def test_nothing_but_the_pages_files_is_served(page: Any) -> None:
    serving, _ = page
    for path in ("/page/..%2Fplay.py", "/page/%2Fetc%2Fpasswd", "/page/none.js", "/page/."):
        assert requests.get(serving.url + path, timeout=5).status_code == 404


def test_a_foreign_host_name_is_refused_everywhere(page: Any) -> None:
    serving, _ = page
    for path in ("/", "/play/state?user=U0ANA", "/api/auth.test"):
        answer = requests.get(serving.url + path, headers={"Host": "evil.example:80"}, timeout=5)
        assert answer.status_code == 421


def test_a_gesture_from_another_site_is_refused(page: Any) -> None:
    serving, slack = page
    foreign = ({}, {"Origin": "http://evil.example"}, {"Origin": "null"})
    for headers in foreign:
        assert do(serving, headers, **SAY).status_code == 403
    crossed = {"Origin": serving.url, "Sec-Fetch-Site": "cross-site"}
    assert do(serving, crossed, **SAY).status_code == 403
    form = {"Origin": serving.url, "Content-Type": "text/plain"}
    plain = requests.post(f"{serving.url}/play/do", data="{}", headers=form, timeout=5)
    assert plain.status_code == 403
    assert slack.workspace.book.messages == []
    assert do(serving, **SAY).status_code == 200
    assert [m.text for m in slack.workspace.book.messages] == ["hello"]


def test_everyone_sees_only_their_own_ephemeral_messages_and_modals(page: Any) -> None:
    serving, slack = page
    serving.call(
        lambda: slack.workspace.post("C0RESEARCH", "U0GPUBOT", "psst", [], only_for="U0ANA")
    )

    def texts(user: str) -> list[str]:
        state = requests.get(f"{serving.url}/play/state?user={user}", timeout=5).json()
        return [m["text"] for c in state["channels"] for m in c["messages"]]

    assert texts("U0ANA") == ["psst"]
    assert texts("U0LI") == []
    ts = slack.workspace.book.messages[0].ts
    click = {"gesture": "use", "user": "U0LI", "channel": "C0RESEARCH", "ts": ts, "action_id": "a"}
    assert do(serving, **click).json()["error"] == "message_not_found"
    assert do(serving, **{**click, "gesture": "dismiss", "user": "U0ANA"}).status_code == 200
    assert texts("U0ANA") == []


@pytest.mark.parametrize(
    ("gesture", "status"),
    [
        ({"gesture": "dance", "user": "U0ANA"}, 409),
        ({"gesture": "say", "user": "U0NOBODY"}, 409),
        ({"gesture": "say", "user": "U0ANA"}, 400),
        ({"gesture": "submit", "user": "U0ANA", "view": "V0"}, 409),
    ],
)
def test_a_gesture_that_makes_no_sense_changes_nothing(
    page: Any, gesture: dict[str, Any], status: int
) -> None:
    serving, slack = page
    assert do(serving, **gesture).status_code == status
    assert slack.workspace.book.messages == []


def test_speed_is_set_within_reason(page: Any) -> None:
    serving, _ = page
    headers = {"Origin": serving.url}
    url = f"{serving.url}/play/speed"
    for body, status in (
        ({"speed": 60}, 200),
        ({"speed": 1e9}, 400),
        ({"speed": "x"}, 400),
        ({}, 400),
    ):
        assert requests.post(url, json=body, headers=headers, timeout=5).status_code == status


def test_a_link_into_the_playground_leads_back_to_the_page(page: Any) -> None:
    serving, _ = page
    answer = requests.get(f"{serving.url}/pulls/1", allow_redirects=False, timeout=5)
    assert answer.headers["Location"] == "/#/pulls/1"


def test_open_pages_hear_of_changes(page: Any) -> None:
    serving, _ = page
    with requests.get(f"{serving.url}/play/events", stream=True, timeout=5) as events:
        lines = events.iter_lines(decode_unicode=True)
        assert next(lines) == "event: hello"
        do(serving, **SAY)
        heard = next(line for line in lines if line.startswith("data: ") and line != "data: -")
        assert "messages" in heard
