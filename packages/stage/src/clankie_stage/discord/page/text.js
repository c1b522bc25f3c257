// Turns a message's text into nodes. Every piece of it goes in as a text node: names and texts are untrusted.

const CODE = /```(?:[a-z0-9+-]*\n)?([\s\S]*?)```|``([^`]+)``|`([^`\n]+)`/gi;
const INLINE = /<@!?(\d+)>|<@&(\d+)>|<#(\d+)>|(@everyone|@here)|(https?:\/\/[^\s<>]+[^\s<>.,;:!?)\]"'])|\*\*(.+?)\*\*|\*(?=\S)([^*\n]+?)\*|__(.+?)__|~~(.+?)~~/g;

/** An element with a class and children; strings become text nodes. */
export function node(tag, classes = "", ...children) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** The text as nodes: code, quotes, emphasis, links, mentions. `names` tells what an id is called. */
export function formatted(text, names) {
  const all = document.createDocumentFragment();
  let at = 0;
  for (const found of text.matchAll(CODE)) {
    all.append(...quoted(text.slice(at, found.index).replace(/\n$/, found[1] === undefined ? "\n" : ""), names));
    const [whole, block, double, single] = found;
    const swallowed = block !== undefined && text[found.index + whole.length] === "\n" ? 1 : 0;
    all.append(block === undefined ? node("code", "", double ?? single) : node("pre", "", node("code", "", block.replace(/\n$/, ""))));
    at = found.index + whole.length + swallowed;
  }
  all.append(...quoted(text.slice(at), names));
  return all;
}

/** The text on one line without marks, for previews. */
export function plain(text, names) {
  const told = text.replace(/<@!?(\d+)>/g, (_, id) => "@" + names.user(id)).replace(/\s+/g, " ");
  return told.length > 140 ? told.slice(0, 139) + "…" : told;
}

function quoted(text, names) {
  const parts = [];
  for (const piece of text.split(/((?:^|(?<=\n))> ?.*(?:\n> ?.*)*\n?)/)) {
    if (/^> ?/.test(piece)) parts.push(node("blockquote", "", ...inline(piece.replace(/^> ?/gm, "").replace(/\n$/, ""), names)));
    else if (piece) parts.push(...inline(piece, names));
  }
  return parts;
}

function inline(text, names) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(at, found.index), marked(found, names));
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}

function marked([, user, role, room, everyone, link, bold, italic, underlined, struck], names) {
  if (user) return node("span", "mention", "@" + names.user(user));
  if (role) return node("span", "mention", "@" + names.role(role));
  if (room) return node("span", "mention", "#" + names.room(room));
  if (everyone) return node("span", "mention", everyone);
  if (link) return outward(link);
  if (bold) return node("strong", "", ...inline(bold, names));
  if (italic) return node("em", "", ...inline(italic, names));
  if (underlined) return node("u", "", ...inline(underlined, names));
  return node("s", "", ...inline(struck, names));
}

function outward(address) {
  const link = node("a", "", address);
  link.href = address;
  link.target = "_blank";
  link.rel = "noopener noreferrer nofollow";
  return link;
}
