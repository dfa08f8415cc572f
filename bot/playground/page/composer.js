// The box people type into, with completion of slash commands.

import { h, icon } from "./dom.js";
import { act, app } from "./store.js";
import { toast } from "./toast.js";

let number = 0;

/** Build a composer; `where()` returns the channel, and the thread if there is one. */
export function composer(root, where) {
  const id = `commands-${++number}`;
  const list = h("ul", { class: "completion", id, role: "listbox", "aria-label": "Commands", hidden: true });
  const input = h("textarea", {
    rows: 1,
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
    "aria-label": "Message or command",
    spellcheck: "false",
  });
  const hint = h("p", { class: "hint" });
  const form = h("form", { class: "box" }, input,
    h("button", { class: "plain send", "aria-label": "Send" }, icon("send")));
  root.append(list, form, hint);
  const c = { input, list, hint, where, at: 0, id };
  input.addEventListener("focus", () => (input.placeholder = `Message ${where().name}, or / for commands`));
  input.placeholder = "Type a message, or / for commands";
  input.addEventListener("input", () => complete(c));
  input.addEventListener("keydown", (event) => key(c, event, form));
  input.addEventListener("blur", () => setTimeout(() => show(c, []), 150));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(c);
  });
}

/** Commands that begin so, and the app's shortcuts, as Slack offers both after a slash. */
function matches(text) {
  if (!/^\/\S*$/.test(text)) return [];
  const commands = app.stage.commands.filter((k) => k.command.startsWith(text));
  const wanted = text.slice(1).toLowerCase();
  const shortcuts = app.stage.shortcuts.filter((s) => s.type === "global" && s.name.toLowerCase().includes(wanted));
  return [...commands, ...shortcuts];
}

function complete(c) {
  c.at = 0;
  c.input.style.height = "auto";
  c.input.style.height = `${Math.min(c.input.scrollHeight, 140)}px`;
  show(c, matches(c.input.value));
  const known = app.stage.commands.find((k) => c.input.value.startsWith(`${k.command} `));
  c.hint.textContent = known?.hint ? `${known.command} ${known.hint}` : "";
}

function show(c, found) {
  c.found = found;
  c.list.hidden = found.length === 0;
  c.input.setAttribute("aria-expanded", String(found.length > 0));
  c.list.replaceChildren(...found.map((k, index) =>
    h("li", {
      role: "option",
      id: `${c.id}-${index}`,
      "aria-selected": String(index === c.at),
      onmousedown: (event) => {
        event.preventDefault();
        take(c, k);
      },
    }, h("b", {}, k.command ?? k.name), " ", h("span", { class: "muted" }, k.command ? k.hint : "shortcut"), h("span", { class: "about" }, k.description))));
  if (found.length) c.input.setAttribute("aria-activedescendant", `${c.id}-${c.at}`);
  else c.input.removeAttribute("aria-activedescendant");
}

function take(c, command) {
  if (command.callback_id) {
    c.input.value = "";
    complete(c);
    act("shortcut", { callback_id: command.callback_id }).catch((error) => toast(`That didn't work: ${error.message}`));
    return;
  }
  c.input.value = `${command.command} `;
  complete(c);
  c.input.focus();
}

function key(c, event, form) {
  const open = c.found?.length > 0;
  const exact = open && c.found[c.at].command === c.input.value;
  if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    const step = event.key === "ArrowDown" ? 1 : -1;
    c.at = (c.at + step + c.found.length) % c.found.length;
    show(c, c.found);
  } else if (open && (event.key === "Tab" || (event.key === "Enter" && !exact))) {
    take(c, c.found[c.at]);
  } else if (open && event.key === "Escape") {
    show(c, []);
  } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    form.requestSubmit();
  } else {
    return;
  }
  event.preventDefault();
}

async function send(c) {
  const text = c.input.value.trim();
  const { channel, thread_ts } = c.where();
  if (!text) return;
  if (text.startsWith("/") && thread_ts) {
    toast(`${text.split(" ")[0]} is not supported in threads. Sorry!`);
    return;
  }
  c.input.value = "";
  complete(c);
  try {
    await act(text.startsWith("/") ? "slash" : "say", { channel, thread_ts, text });
  } catch (error) {
    toast(`That didn't work: ${error.message}`);
  }
}
