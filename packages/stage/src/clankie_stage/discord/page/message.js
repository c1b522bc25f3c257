// Draws one message as Discord does.

import { formatted, node, plain } from "/text.js";

const GROUP_WITHIN_MS = 7 * 60_000;
const EMOJI = ["👍", "❤️", "😂", "🎉", "👀", "😢"];

/** A round face with an initial; people keep their colour. */
export function face(user) {
  const name = user.global_name ?? user.username;
  const made = node("span", `face ${user.bot ? "bot" : "c" + (Number(BigInt(user.id) % 4n))}`, ([...name][0] ?? "?").toUpperCase());
  made.setAttribute("aria-hidden", "true");
  return made;
}

// Whether a message goes on under the heading of the one before.
function continues(before, message) {
  return before && before.author.id === message.author.id && message.type === 0 && !message.message_reference
    && new Date(message.timestamp) - new Date(before.timestamp) < GROUP_WITHIN_MS;
}

/** The list item of a message. `acts` are what its buttons do: reply, edit, remove, react, show. */
export function drawn(message, before, names, speaker, acts) {
  const grouped = continues(before, message);
  const item = node("li", "message");
  item.dataset.id = message.id;
  item.classList.toggle("first", !grouped);
  item.classList.toggle("addressed", message.mentions.some((user) => user.id === speaker.id) || message.mention_everyone);
  if (message.type === 19) item.append(answered(message, names, acts));
  item.classList.toggle("replies", message.type === 19);
  if (grouped) item.append(clock(message, "early"));
  else item.append(face(message.author), heading(message, names));
  item.append(...content(message, names));
  if (message.reactions?.length) item.append(reactions(message, speaker, acts));
  item.append(tools(message, speaker, acts));
  return item;
}

function heading(message, names) {
  const line = node("div", "heading", node("span", "who", names.author(message.author)));
  if (message.author.bot) line.append(node("span", "tag", message.webhook_id ? "WEBHOOK" : "APP"));
  line.append(clock(message));
  return line;
}

function clock(message, classes = "") {
  const moment = new Date(message.timestamp);
  const made = node("time", classes, moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  made.dateTime = message.timestamp;
  made.title = moment.toLocaleString();
  return made;
}

function answered(message, names, acts) {
  const target = message.referenced_message;
  if (!target) return node("div", "answers", node("span", "note", "Original message was deleted"));
  const show = node("button", "", plain(target.content || "(no text)", names));
  show.type = "button";
  show.addEventListener("click", () => acts.show(target.id));
  const pinged = message.mentions.some((user) => user.id === target.author.id);
  return node("div", "answers", node("span", "who", (pinged ? "@" : "") + names.author(target.author)), show);
}

function content(message, names) {
  const parts = [];
  if (message.type === 18) return [node("div", "note", `started a thread: ${message.content}`)];
  if (message.content || message.edited_timestamp) {
    const text = node("div", "text", formatted(message.content, names));
    if (message.edited_timestamp) text.append(node("span", "edited", "(edited)"));
    parts.push(text);
  }
  for (const { message: inner } of message.message_snapshots ?? []) {
    parts.push(node("div", "snapshot", node("i", "", "↱ Forwarded"), node("div", "text", formatted(inner.content ?? "", names)), ...(inner.attachments ?? []).map(attached)));
  }
  parts.push(...message.attachments.map(attached), ...message.embeds.map((each) => embed(each, names)));
  for (const sticker of message.sticker_items ?? []) parts.push(node("div", "note", `sticker: ${sticker.name}`));
  if (message.poll) parts.push(node("div", "note", `poll: ${message.poll.question?.text ?? ""}`));
  return parts;
}

function attached(file) {
  const here = file.url.replace(/^https:\/\/[^/]+/, "/cdn");
  if (/^image\/(png|jpeg|gif|webp)/.test(file.content_type ?? "")) {
    const picture = node("img", "picture");
    picture.src = here;
    picture.alt = file.description ?? file.filename;
    if (file.width && file.height) [picture.width, picture.height] = fitted(file.width, file.height);
    return picture;
  }
  const link = node("a", "", file.title ?? file.filename);
  link.href = here;
  link.download = file.filename;
  return node("div", "attached", link, node("span", "size", `${file.size.toLocaleString()} bytes`));
}

function fitted(width, height) {
  const scale = Math.min(1, 400 / width, 300 / height);
  return [Math.round(width * scale), Math.round(height * scale)];
}

function embed(given, names) {
  const card = node("div", "embed");
  if (given.title || given.type === "gifv") card.append(node("strong", "", String(given.title ?? "GIF")));
  if (given.description) card.append(node("div", "text", formatted(String(given.description), names)));
  if (given.url && /^https?:/.test(given.url)) card.append(formatted(String(given.url), names));
  return card;
}

function reactions(message, speaker, acts) {
  return node("div", "reactions", ...message.reactions.map(({ emoji, count, users }) => {
    const name = emoji.id ? `:${emoji.name}:` : emoji.name;
    const mine = users.includes(speaker.id);
    const made = button(`${name} ${count}`, () => acts.react(message, emoji.id ? `${emoji.name}:${emoji.id}` : emoji.name, mine));
    made.classList.toggle("mine", mine);
    made.setAttribute("aria-pressed", String(mine));
    return made;
  }));
}

function tools(message, speaker, acts) {
  const bar = node("div", "tools");
  bar.append(button("React", () => bar.replaceChildren(...EMOJI.map((emoji) => button(emoji, () => acts.react(message, emoji, false))))));
  if (message.type === 0 || message.type === 19) bar.append(button("Reply", () => acts.reply(message)));
  if (message.author.id === speaker.id) {
    bar.append(button("Edit", () => acts.edit(message)), button("Delete", () => acts.remove(message)));
    bar.lastChild.classList.add("danger");
  }
  return bar;
}

function button(label, act) {
  const made = node("button", "", label);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}
