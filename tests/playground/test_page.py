"""The page in a real Chromium: the main story, the keyboard, a phone's width.

With GPUBOT_SCREENSHOTS set to a folder, what was seen is left there as pictures.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.playground.fake_slack.validate_blocks import check_message_blocks
from bot.playground.fake_slack.validate_views import check_view
from bot.playground.play import Playground
from tests.playground.gallery import MESSAGE, MODAL

pytestmark = pytest.mark.chromium
DESKTOP, PHONE = (1440, 900), (390, 844)
SECONDS = 30_000


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        running = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    running = Playground(tmp_path).start()
    yield running
    running.stop()


@pytest.fixture
def opened(browser: Any, playground: Playground) -> Iterator[Callable[..., Any]]:
    contexts, troubles = [], []

    def open_page(size: tuple[int, int] = DESKTOP, scheme: str = "light") -> Any:
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(
            viewport=viewport, color_scheme=scheme, timezone_id="Europe/Berlin"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SECONDS)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda m: troubles.append(m.text) if _is_trouble(m) else None)
        page.goto(playground.url)
        page.wait_for_selector(".people", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def _is_trouble(message: Any) -> bool:
    """Chromium itself notes each refused connection, which a restart is bound to have."""
    return message.type == "error" and "net::ERR" not in message.text


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    folder = os.environ.get("GPUBOT_SCREENSHOTS", "")

    def take(page: Any, name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.wait_for_timeout(400)
            page.screenshot(path=str(Path(folder) / f"{name}.png"))

    return take


def become(page: Any, name: str) -> None:
    menu = page.get_by_role("button", name="People and channels")
    if menu.is_visible():
        menu.click()
    page.get_by_role("button", name=f"Be {name}").click()
    if menu.is_visible():
        page.keyboard.press("Escape")


def fill_and_send(page: Any) -> None:
    page.get_by_label("Why").fill("camera-ready ablations")
    page.get_by_role("button", name="Send request").click()
    page.get_by_role("heading", name="Your request").wait_for()
    page.keyboard.press("Escape")


@pytest.mark.parametrize(("name", "size"), [("desktop", DESKTOP), ("phone", PHONE)])
def test_a_manifest_is_uploaded_and_answered_in_the_modal(
    opened: Callable[..., Any],
    picture: Callable[[Any, str], None],
    tmp_path: Path,
    name: str,
    size: tuple[int, int],
) -> None:
    manifest = tmp_path / "job.yaml"
    manifest.write_text(JOB, "utf-8")
    page = opened(size)
    box = page.get_by_label("Message or command").first
    box.fill("/would")
    page.get_by_text("Would my job fit?").click()
    picture(page, f"{name}-fit-1-form")
    page.get_by_label("or a manifest").set_input_files(manifest)
    page.get_by_label("Queue").select_option("vision")
    page.get_by_role("button", name="Look").click()
    page.get_by_text("Would Job eval").first.wait_for()
    picture(page, f"{name}-fit-2-answer")


JOB = """{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "eval"}, "spec": {
"parallelism": 2, "template": {"spec": {"containers": [
{"name": "main", "resources": {"requests": {"nvidia.com/gpu": 8}}}]}}}}
"""


@pytest.mark.parametrize(("name", "size"), [("desktop", DESKTOP), ("phone", PHONE)])
def test_the_main_story_by_the_three_suggested_clicks(
    opened: Callable[..., Any],
    picture: Callable[[Any, str], None],
    name: str,
    size: tuple[int, int],
) -> None:
    page = opened(size)
    page.get_by_text("the cluster and the Git repository beside it are made up").wait_for()
    picture(page, f"{name}-1-first-visit")
    page.get_by_role("button", name="Ask what research may use").click()
    page.get_by_text("research can start 4 more H100").first.wait_for()
    page.get_by_text("Only visible to you").wait_for()
    picture(page, f"{name}-2-quota")

    page.get_by_role("button", name="Ask for 8 more").click()
    page.get_by_label("Why").wait_for()
    page.get_by_text("After this:").first.wait_for()
    picture(page, f"{name}-3-request")
    page.get_by_role("button", name="Send request").click()
    page.get_by_text("Please complete this required field.").wait_for()
    fill_and_send(page)

    page.get_by_role("button", name="Be the approver").click()
    page.get_by_role("button", name=re.compile("^Approve")).first.wait_for()
    page.get_by_text("Pull request #1").first.wait_for()
    picture(page, f"{name}-4-card")
    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    page.locator("#chat .replies").click()
    thread = page.get_by_role("complementary", name="Thread")
    thread.get_by_text(re.compile("Merged")).first.wait_for()
    thread.get_by_text(re.compile("Live in prod-eu at")).wait_for()
    picture(page, f"{name}-5-live")

    if size == PHONE:
        page.get_by_role("button", name="Close thread").click()
        page.get_by_role("button", name="Cluster and repository").click()
    side = page.get_by_role("complementary", name="Cluster and repository")
    side.get_by_text("44 reserved, quota 40").wait_for()
    side.get_by_text("merged", exact=True).wait_for()
    side.get_by_text("in the cluster").wait_for()
    picture(page, f"{name}-6-cluster")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_outsider_is_refused_in_words_only_they_see(opened: Callable[..., Any]) -> None:
    page = opened()
    page.get_by_role("button", name="Ask for 8 more").click()
    fill_and_send(page)
    page.get_by_role("button", name="gpu-requests").first.click()
    become(page, "Otto")
    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    page.get_by_text(re.compile("You can't")).wait_for()
    become(page, "Kim")
    page.get_by_text("research wants 8 more H100").first.wait_for()
    assert page.get_by_text(re.compile("You can't")).count() == 0


def test_commands_are_completed_and_sent_by_keyboard(
    opened: Callable[..., Any], picture: Callable[[Any, str], None]
) -> None:
    page = opened()
    box = page.get_by_role("combobox").first
    box.focus()
    page.keyboard.type("/gpu-q")
    page.get_by_role("option", name="/gpu-quota").wait_for()
    picture(page, "desktop-completion")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.type("vision")
    page.keyboard.press("Enter")
    page.get_by_text(re.compile("vision can start 12 more H100")).first.wait_for()
    assert box.input_value() == ""


def test_a_command_in_a_thread_is_refused_as_slack_does(
    opened: Callable[..., Any], playground: Playground
) -> None:
    root = playground.serving.call(
        lambda: playground.slack.workspace.post("C0RESEARCH", "U0RAE", "a root", [])
    )
    page = opened()
    page.locator(f"[data-ts='{root.ts}']").hover()
    page.get_by_role("button", name="Reply in thread").click()
    box = page.get_by_role("complementary", name="Thread").get_by_role("combobox")
    box.fill("/gpu-quota ")
    box.press("Enter")
    page.get_by_text("/gpu-quota is not supported in threads. Sorry!").wait_for()
    box.fill("just words")
    box.press("Enter")
    page.get_by_role("complementary", name="Thread").get_by_text("just words").wait_for()


def test_the_home_tab_and_the_dark_scheme(
    opened: Callable[..., Any], picture: Callable[[Any, str], None]
) -> None:
    page = opened(scheme="dark")
    page.get_by_role("button", name="Gpubot Home").click()
    page.get_by_text("Nothing waits for your decision.").wait_for()
    picture(page, "desktop-home-dark")
    page.get_by_role("button", name="Gpubot messages").click()
    page.get_by_text("Sending messages to this app has been turned off.").wait_for()


def test_what_people_write_is_never_markup(
    opened: Callable[..., Any], playground: Playground
) -> None:
    nasty = "<img src=x onerror=alert(1)> &lt;b&gt; <javascript:alert(1)|click> <!channel>"
    playground.serving.call(lambda: playground.slack.gestures.say("U0RAE", "C0RESEARCH", nasty))
    page = opened()
    page.get_by_text("<b>").wait_for()
    assert page.locator("#chat img").count() == 0
    assert page.locator("#chat .message a").count() == 0


def test_every_block_and_field_is_drawn_and_works(
    opened: Callable[..., Any], picture: Callable[[Any, str], None], playground: Playground
) -> None:
    slack = playground.slack
    check_message_blocks(MESSAGE)
    check_view(MODAL, "modal")
    playground.serving.call(
        lambda: slack.workspace.post("C0RESEARCH", "U0GPUBOT", "gallery", MESSAGE)
    )
    page = opened((1440, 1300))
    page.get_by_role("heading", name="A header").wait_for()
    picture(page, "gallery-message")
    assert page.get_by_role("columnheader").all_inner_texts() == ["queue", "own"]
    assert page.get_by_text("Image: a picture elsewhere").is_visible()
    page.get_by_role("button", name="Take", exact=True).click()
    page.get_by_role("heading", name="Are you sure?").wait_for()
    picture(page, "gallery-confirm")
    page.get_by_role("button", name="Leave them").click()
    assert page.get_by_role("heading", name="Are you sure?").count() == 0

    playground.serving.call(lambda: slack.workspace.views.open("U0ANA", MODAL))
    playground.serving.call(lambda: slack.workspace.changed("views"))
    page.get_by_label("Words").fill("hello")
    page.get_by_label("Drink").select_option("coffee")
    page.get_by_label("Foods").select_option(["cake", "pie"])
    page.get_by_label("Large").check()
    page.get_by_label("Sugar").check()
    page.get_by_label("Who").select_option("U0LI")
    picture(page, "gallery-modal")
    view = slack.workspace.views.top("U0ANA")
    page.wait_for_timeout(600)
    assert view is not None
    values = {block: next(iter(fields.values())) for block, fields in view.values.items()}
    expected = {"words": "hello", "drink": "coffee", "foods": ["cake", "pie"], "size": "large"}
    assert values | expected | {"extras": ["sugar"], "who": "U0LI", "hour": "09:30"} == values


def test_time_can_be_stopped_and_sped_up(
    opened: Callable[..., Any], playground: Playground
) -> None:
    page = opened()
    page.get_by_role("button", name="60×").click()
    page.get_by_role("button", name="60×", pressed=True).wait_for()
    assert playground.cluster is not None
    assert playground.cluster.speed == 60
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Time stands still").wait_for()
    assert playground.cluster.paused


def test_a_restart_is_survived(opened: Callable[..., Any], playground: Playground) -> None:
    page = opened()
    playground.serving.down()
    page.get_by_text("Connection lost, trying again…").wait_for()
    playground.serving.up()
    page.get_by_text("Connected", exact=True).wait_for()
