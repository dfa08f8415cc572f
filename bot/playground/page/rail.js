// The left: who I am, and where I can go.

import { h, icon } from "./dom.js";
import { avatar } from "./messages.js";
import { app, become, goTo, mentions, person, unread } from "./store.js";

export function drawRail(root) {
  const focus = root.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  root.replaceChildren(
    h("header", { class: "top" }, h("h2", { class: "grow" }, "Gpubot playground"),
      h("button", { type: "button", class: "fold", "aria-label": "Close", onclick: fold }, icon("close"))),
    h("div", { class: "scroll" }, people(), places()),
    h("p", { class: "status muted" }, app.online ? "Connected" : "Connection lost, trying again…"),
  );
  if (focus) [...root.querySelectorAll("[data-focus]")].find((e) => e.dataset.focus === focus)?.focus();
}

function fold() {
  document.body.classList.remove("rail-open");
}

function people() {
  return h("section", { "aria-labelledby": "who" },
    h("h3", { id: "who" }, "You are"),
    h("ul", { class: "people" }, app.stage.people.map((id) => {
      const { real_name, role } = person(id);
      const news = id === app.me ? 0 : mentions(id);
      const label = `Be ${real_name}, ${role}${news ? `, mentioned ${news} times` : ""}`;
      return h("li", {},
        h("button", { type: "button", "aria-pressed": String(id === app.me), "aria-label": label, "data-focus": id, onclick: () => become(id) },
          avatar(id),
          h("span", { class: "grow" }, h("b", {}, real_name), h("span", { class: "muted role" }, role)),
          news > 0 && h("span", { class: "badge" }, String(news))));
    })));
}

function places() {
  const channels = app.state.channels.filter((c) => !c.im);
  const direct = app.state.channels.filter((c) => c.im);
  return h("section", { "aria-labelledby": "where" },
    h("h3", { id: "where" }, "Channels"),
    h("ul", { class: "places" },
      channels.map((c) => place(c.id, icon("hash"), c.name, unread(c))),
      h("li", { class: "heading" }, h("h3", {}, "App")),
      place("home", icon("home"), "Gpubot Home", 0),
      direct.map((c) => place(c.id, icon("message"), "Gpubot messages", unread(c)))));
}

function place(id, mark, name, news) {
  const here = id === app.channel;
  const go = () => {
    goTo(id);
    fold();
  };
  return h("li", {},
    h("button", { type: "button", class: news ? "unread" : "", "aria-current": here ? "page" : undefined, "data-focus": id, onclick: go },
      mark, h("span", { class: "grow" }, name), news > 0 && h("span", { class: "badge", "aria-label": `${news} new` }, String(news))));
}
