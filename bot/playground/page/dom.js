// Building and updating elements without a framework.

/** Make an element: `h("p", {class: "x", onclick: f}, "text", child)`. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in properties) element[properties[name]] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

const properties = { value: "value", checked: "checked", selected: "selected", text: "textContent" };

/** Replace an element's children, keeping those whose key and signature stay the same. */
export function keyed(parent, items) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const focus = focusIn(parent);
  const next = items.map(({ key, signature, make }) => {
    const kept = old.get(key);
    if (kept && kept.dataset.signature === signature) return kept;
    const made = make();
    made.dataset.key = key;
    made.dataset.signature = signature;
    return made;
  });
  place(parent, next);
  refocus(parent, focus);
}

// Moving an element that has focus would take the focus away, so only what is out of place moves.
function place(parent, next) {
  const wanted = new Set(next);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  next.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

function focusIn(parent) {
  const active = document.activeElement;
  if (!active || !parent.contains(active) || !active.dataset.focus) return null;
  const text = "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  return { key: active.dataset.focus, text };
}

function refocus(parent, focus) {
  if (!focus || parent.contains(document.activeElement)) return;
  const element = [...parent.querySelectorAll("[data-focus]")].find((e) => e.dataset.focus === focus.key);
  if (!element) return;
  element.focus();
  try {
    if (focus.text) element.setSelectionRange(...focus.text);
  } catch {
    // number fields have no selection
  }
}

/** An icon drawn from path data on a 16 x 16 grid, hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

const paths = {
  hash: "M6 2 4.5 14M11.5 2 10 14M2.5 5.5h11M2 10.5h11",
  home: "M2 8 8 2.5 14 8M4 7v6.5h8V7",
  eye: "M1.5 8s2.5-4 6.5-4 6.5 4 6.5 4-2.5 4-6.5 4-6.5-4-6.5-4ZM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z",
  branch: "M5 3.5v9M5 9c4 0 6-1 6-4.5M5 3.5a1 1 0 1 0 0-.1M5 12.6a1 1 0 1 0 0-.1M11 4.4a1 1 0 1 0 0-.1",
  menu: "M2 4h12M2 8h12M2 12h12",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  send: "M2 8 14 2.5 11 14 7.5 9.5ZM7.5 9.5 14 2.5",
  chart: "M2 14h12M3.5 12V8M7 12V4M10.5 12V6.5M13.5 12V9.5",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  back: "M10 3 5 8l5 5",
  message: "M2.5 3h11v8h-6l-3 2.5V11h-2Z",
};
