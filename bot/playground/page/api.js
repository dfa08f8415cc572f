// The page's own API; Slack's is the bot's.

async function body(response) {
  const json = await response.json();
  if (!response.ok) throw new Error(json.messages?.[0] ?? json.error ?? `HTTP ${response.status}`);
  return json;
}

export async function get(path) {
  return body(await fetch(path));
}

export async function post(path, json) {
  const headers = { "Content-Type": "application/json" };
  return body(await fetch(path, { method: "POST", headers, body: JSON.stringify(json) }));
}

/** Give a file to the workspace; the answer has its id. */
export async function upload(user, file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let content = "";
  for (const byte of bytes) content += String.fromCharCode(byte);
  return post("/play/upload", { user, name: file.name, content: btoa(content) });
}

/** Call `heard` with the topics that changed; `connected` tells whether the server is there. */
export function listen(heard, connected) {
  const source = new EventSource("/play/events");
  source.addEventListener("hello", () => {
    connected(true);
    heard(["messages", "world"]);
  });
  source.onmessage = (event) => heard(event.data.split(" "));
  source.onerror = () => connected(false);
}
