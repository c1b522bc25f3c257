// The page: which room is shown, who writes, and what comes in live.

import { drawn, face } from "/message.js";
import { node, plain } from "/text.js";

const TYPING_MS = 10_000;
const at = (id) => document.getElementById(id);
const state = { world: null, about: null, room: null, speaker: null, messages: [], reply: null, edit: null, files: [], typing: new Map(), unread: new Map(), late: [], sending: false };

const names = {
  user: (id) => state.world.users.find((user) => user.id === id)?.display_name ?? "unknown-user",
  role: (id) => state.world.roles[id] ?? "unknown-role",
  room: (id) => roomOf(id)?.name ?? "unknown",
  author: (author) => state.world.users.find((user) => user.id === author.id)?.display_name ?? author.global_name ?? author.username,
};

const roomOf = (id) => state.world.rooms.find((room) => room.id === id);
const userOf = (id) => state.world.users.find((user) => user.id === id);
const isThread = (room) => [10, 11, 12].includes(room.type);

async function ask(verb, given = {}) {
  const response = await fetch(`/_stage/${verb}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer.value;
}

/** Run what a person asked for; what goes wrong is said at the message box. */
async function attempt(act) {
  at("trouble").hidden = true;
  try {
    await act();
  } catch (error) {
    at("trouble").textContent = error instanceof TypeError ? "The stage does not answer. Is it still running?" : error.message;
    at("trouble").hidden = false;
  }
}

// -- rooms -------------------------------------------------------------------------------------

function label(room) {
  return room.recipients ? `${names.author(room.recipients[0])} and Clankie` : room.name;
}

function orderedRooms() {
  const rooms = state.world.rooms.filter((room) => !room.recipients && !isThread(room));
  const placed = rooms.flatMap((room) => [room, ...state.world.rooms.filter((each) => each.parent_id === room.id && isThread(each))]);
  return [...placed, ...state.world.rooms.filter((room) => room.recipients)];
}

function guildName(room) {
  return state.world.guilds.length > 1 ? state.world.guilds.find((guild) => guild.id === room.guild_id)?.name ?? "Rooms" : "Rooms";
}

function drawRooms() {
  const list = at("rooms");
  list.replaceChildren();
  let heading = null;
  for (const room of orderedRooms()) {
    const under = room.recipients ? "Direct messages" : guildName(room);
    if (under !== heading) list.append(node("h3", "", heading = under));
    const unread = state.unread.get(room.id) ?? 0;
    const sign = room.recipients ? face(room.recipients[0]) : node("span", "sign", isThread(room) ? "↳" : room.type === 15 ? "▤" : "#");
    sign.setAttribute("aria-hidden", "true");
    const entry = node("button", isThread(room) ? "thread" : "", sign, node("span", "name", label(room)));
    if (unread) entry.append(node("span", "count", String(unread)), node("span", "unseen", "new messages"));
    entry.type = "button";
    entry.title = label(room);
    entry.classList.toggle("unread", unread > 0);
    if (room.id === state.room?.id) entry.setAttribute("aria-current", "page");
    entry.addEventListener("click", () => attempt(() => enter(room)));
    list.append(entry);
  }
}

async function enter(room) {
  [state.reply, state.edit] = [null, null];
  state.room = room;
  state.unread.delete(room.id);
  if (room.recipients) state.speaker = userOf(room.recipients[0].id);
  [state.messages, state.late] = [[], []];
  const messages = await ask("shown", { room: room.id });
  if (state.room !== room) return;
  // What came in while the room was being fetched may be missing from what was fetched.
  state.messages = [...messages, ...state.late.filter((each) => !messages.some(({ id }) => id === each.id))];
  state.late = null;
  const access = { full: "", words: "Clankie can write here and cannot attach files.", read: "Clankie can read here and cannot write.", none: "Clankie cannot see this room." };
  at("title").textContent = room.recipients ? label(room) : `# ${label(room)}`;
  at("topic").textContent = access[room.bot_access] || (room.recipients ? "A private conversation: no @Clankie needed here." : "Clankie answers for sure when you say @Clankie or reply to him.");
  document.title = `${label(room)} · The Stage`;
  drawRooms(); drawSpeakers(); drawMessages(); drawComposer(); drawTyping();
  at("words").focus();
}

// -- messages ----------------------------------------------------------------------------------

const acts = {
  reply: (message) => { [state.reply, state.edit] = [message, null]; drawComposer(); at("words").focus(); },
  edit: (message) => { [state.reply, state.edit] = [null, message]; drawComposer(); at("words").value = readable(message.content); grow(); at("words").focus(); },
  remove: (message) => attempt(() => ask("delete", { message: message.id })),
  react: (message, emoji, remove) => attempt(() => ask("react", { user: state.speaker.id, message: message.id, emoji, remove })),
  show: (id) => {
    const target = document.querySelector(`[data-id="${CSS.escape(id)}"]`);
    target?.scrollIntoView({ block: "center" });
    target?.classList.add("flash");
    target?.addEventListener("animationend", () => target.classList.remove("flash"), { once: true });
  },
};

const drawn_ = (message, before) => drawn(message, before, names, state.speaker, acts);

function drawMessages() {
  const opening = node("li", "opening", node("strong", "", state.room.recipients ? label(state.room) : `# ${label(state.room)}`), "This is where the room begins.");
  at("log").replaceChildren(opening, ...state.messages.map((message, index) => drawn_(message, state.messages[index - 1])));
  at("log").scrollTop = at("log").scrollHeight;
}

function added(message) {
  const log = at("log");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 120;
  log.append(drawn_(message, state.messages.at(-1)));
  state.messages.push(message);
  if (atEnd || message.author.id === state.speaker.id) log.scrollTop = log.scrollHeight;
}

/** Draw one message anew, and with it those whose look depends on it. */
function redrawn(message) {
  state.messages = state.messages.map((each) => {
    if (each.id === message.id) return message;
    return each.referenced_message?.id === message.id ? { ...each, referenced_message: message } : each;
  });
  state.messages.forEach((each, index) => {
    if (each.id === message.id || each.referenced_message?.id === message.id) {
      at("log").querySelector(`[data-id="${CSS.escape(each.id)}"]`)?.replaceWith(drawn_(each, state.messages[index - 1]));
    }
  });
}

// -- speaking ----------------------------------------------------------------------------------

function people() {
  return state.world.users.filter((user) => !user.bot).sort((a, b) => (a.id === state.world.owner_id) - (b.id === state.world.owner_id));
}

function drawSpeakers() {
  const only = state.room.recipients?.[0].id;
  const options = people().map((user) => {
    const choice = node("input");
    Object.assign(choice, { type: "radio", name: "speaker", value: user.id, checked: user.id === state.speaker.id, disabled: Boolean(only) && user.id !== only });
    choice.addEventListener("change", () => speakAs(user));
    return node("label", "", choice, face(user), node("span", "", user.display_name));
  });
  at("speakers").replaceChildren(at("speakers").querySelector("legend"), ...options);
}

function speakAs(user) {
  state.speaker = user;
  drawSpeakers(); drawMessages(); drawComposer();
  at("words").focus();
}

function drawComposer() {
  at("words").placeholder = state.edit ? "Edit the message" : `Message ${state.room.recipients ? "Clankie" : "#" + label(state.room)} as ${state.speaker.display_name}`;
  const about = state.edit ?? state.reply;
  at("replying").hidden = !about;
  if (about) at("replying-to").textContent = state.edit ? "Editing your message" : `Replying to ${names.author(about.author)}: ${plain(about.content || "(no text)", names)}`;
  at("files").hidden = state.files.length === 0;
  at("files").replaceChildren(...state.files.map((file, index) => {
    const drop = node("button", "", "✕");
    drop.type = "button";
    drop.setAttribute("aria-label", `Do not send ${file.filename}`);
    drop.addEventListener("click", () => { state.files.splice(index, 1); drawComposer(); });
    return node("li", "", file.filename, drop);
  }));
}

function grow() {
  at("words").style.height = "auto";
  at("words").style.height = `${at("words").scrollHeight}px`;
}

/** `@Clankie` as people write it becomes a mention, longest name first. */
function mentioning(text) {
  const known = [...state.world.users].sort((a, b) => b.display_name.length - a.display_name.length);
  return known.reduce((told, user) => told.replace(new RegExp(`(^|[^\\w<])@${escaped(user.display_name)}(?!\\w)`, "gi"), (_, lead) => `${lead}<@${user.id}>`), text);
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const readable = (text) => text.replace(/<@!?(\d+)>/g, (_, id) => "@" + names.user(id));

// Whoever presses Enter again while a file is on its way has sent it once.
async function sendOnce() {
  if (state.sending) return;
  state.sending = true;
  try { await send(); } finally { state.sending = false; }
}

async function send() {
  const text = mentioning(at("words").value.trim());
  if (state.edit) {
    if (text) await ask("edit", { message: state.edit.id, content: text });
  } else if (text || state.files.length) {
    await ask("say", { user: state.speaker.id, content: text, room: state.room.id, reply_to: state.reply?.id ?? null, attachments: state.files });
  }
  [state.reply, state.edit, state.files] = [null, null, []];
  at("words").value = "";
  grow(); drawComposer();
}

async function attach(files) {
  for (const file of files) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = "";
    for (let index = 0; index < bytes.length; index += 0x8000) binary += String.fromCharCode(...bytes.subarray(index, index + 0x8000));
    state.files.push({ filename: file.name || "pasted.png", content: btoa(binary), content_type: file.type || null });
  }
  drawComposer();
}

// -- typing and presence -----------------------------------------------------------------------

function drawTyping() {
  const now = Date.now();
  const typing = [...state.typing.values()].filter((each) => each.room === state.room?.id && each.until > now);
  const line = at("typing");
  if (!typing.length) return line.replaceChildren();
  const dots = node("span", "dots", node("i"), node("i"), node("i"));
  dots.setAttribute("aria-hidden", "true");
  const who = typing.map((each) => names.user(each.user)).join(" and ");
  line.replaceChildren(dots, node("strong", "", who), ` ${typing.length > 1 ? "are" : "is"} typing …`);
}

function drawPresence(count) {
  at("lamp").classList.toggle("on", count > 0);
  at("presence").textContent = count > 0 ? "Clankie is connected" : "Clankie is not connected. “clankie up” starts it.";
}

// -- what comes in -----------------------------------------------------------------------------

const sights = {
  message({ room, message }) {
    state.typing.delete(`${room} ${message.author.id}`);
    if (room === state.room?.id) {
      if (state.late) state.late.push(message);
      else if (!state.messages.some(({ id }) => id === message.id)) added(message);
      return drawTyping();
    }
    state.unread.set(room, (state.unread.get(room) ?? 0) + 1);
    drawRooms();
  },
  edited({ room, message }) { if (room === state.room?.id) redrawn(message); },
  deleted({ room, ids }) {
    if (room !== state.room?.id) return;
    if (ids.includes(state.reply?.id) || ids.includes(state.edit?.id)) leave();
    state.messages = state.messages.filter((each) => !ids.includes(each.id)).map((each) => ids.includes(each.referenced_message?.id) ? { ...each, referenced_message: null } : each);
    drawMessages();
  },
  typing({ room, user }) {
    state.typing.set(`${room} ${user}`, { room, user, until: Date.now() + TYPING_MS });
    setTimeout(drawTyping, TYPING_MS + 50);
    drawTyping();
  },
  connected({ count }) { drawPresence(count); },
  reload: () => attempt(load),
};

async function load() {
  state.world = await ask("describe");
  state.speaker = userOf(state.speaker?.id) ?? people()[0];
  drawPresence(state.world.connected);
  await enter(roomOf(state.room?.id) ?? orderedRooms()[0]);
}

function listen() {
  const stream = new EventSource("/_stage/events");
  stream.addEventListener("open", () => attempt(load));
  stream.addEventListener("message", ({ data }) => {
    const { sight, ...details } = JSON.parse(data);
    if (state.world) sights[sight]?.(details);
  });
  stream.addEventListener("error", () => {
    at("lamp").classList.remove("on");
    at("presence").textContent = "The stage does not answer; trying again …";
  });
}

// -- help --------------------------------------------------------------------------------------

const IDEAS = [
  ["@Clankie good evening", "one message, one answer"],
  ["@Clankie slow please, what is this?", "then two more lines while he types, as anybody: one answer covers all three"],
  ["@Clankie use a tool", "a word in between, then the answer"],
  ["@Clankie stay silent", "he reads it and says nothing"],
];

function drawHelp() {
  const { model, rules } = state.about;
  const rehearsing = model === "rehearsal";
  const told = at("model");
  if (rehearsing) told.replaceChildren("The ", node("strong", "", "rehearsal model"), ". It follows a few rules and understands nothing; it is there so that you can watch Clankie work without a key.");
  else if (model) told.replaceChildren("The model ", node("strong", "", model), ". What you write here goes to it.");
  else told.replaceChildren("Whichever model the captain was started with; the stage was not told. Without a key that is the rehearsal model; with one, what you write goes to that provider.");
  at("rules-part").hidden = Boolean(model) && !rehearsing;
  at("rules").replaceChildren(...rules.map((rule) => node("li", "", rule)));
  at("ideas").replaceChildren(...IDEAS.map(([text, why]) => {
    const idea = node("button", "", text, node("small", "", why));
    idea.type = "button";
    idea.addEventListener("click", () => { at("words").value = text; grow(); at("words").focus(); });
    return node("li", "", idea);
  }));
}

function toggleHelp(shown) {
  at("help").hidden = !shown;
  at("help-toggle").setAttribute("aria-expanded", String(shown));
}

// -- keys --------------------------------------------------------------------------------------

function leave() {
  if (state.edit) at("words").value = "";
  [state.reply, state.edit] = [null, null];
  grow(); drawComposer();
}

function writing(event) {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    attempt(sendOnce);
  } else if (event.key === "ArrowUp" && !event.altKey && !at("words").value) {
    const own = state.messages.findLast((message) => message.author.id === state.speaker.id);
    if (own) { event.preventDefault(); acts.edit(own); }
  }
}

function anywhere(event) {
  if (event.key === "Escape") leave();
  if (!event.altKey) return;
  const chosen = people()[Number(event.key) - 1];
  if (chosen && !state.room.recipients) { event.preventDefault(); speakAs(chosen); }
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step) {
    event.preventDefault();
    const rooms = orderedRooms();
    const next = (rooms.findIndex((room) => room.id === state.room.id) + step + rooms.length) % rooms.length;
    attempt(() => enter(rooms[next]));
  }
}

at("composer").addEventListener("submit", (event) => { event.preventDefault(); attempt(sendOnce); });
at("words").addEventListener("keydown", writing);
at("words").addEventListener("input", grow);
at("words").addEventListener("paste", (event) => { if (event.clipboardData.files.length) { event.preventDefault(); attach(event.clipboardData.files); } });
at("file").addEventListener("change", async () => { await attach(at("file").files); at("file").value = ""; at("words").focus(); });
at("reply-cancel").addEventListener("click", () => { leave(); at("words").focus(); });
at("help-toggle").addEventListener("click", () => toggleHelp(at("help").hidden));
document.addEventListener("keydown", anywhere);
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => { event.preventDefault(); attach(event.dataTransfer.files); });

toggleHelp(window.innerWidth >= 1080);
state.about = await (await fetch("/_stage/about")).json();
drawHelp();
listen();
