"use strict";
// What all pages share. Text from a file only ever becomes the text of an element or the value of an attribute, never markup.
const page = (() => {
  const begun = performance.now();
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);

  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "on") { for (const [event, action] of Object.entries(value)) node.addEventListener(event, action); }
      else if (name === "vars") { for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text); }
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  // What the address of the page asks for, as in #finding=2&step=3.
  const asked = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const remember = (wanted) => {
    const text = new URLSearchParams(wanted).toString();
    // Some browsers refuse this for files; nothing depends on it.
    try { history.replaceState(null, "", "#" + text); } catch { /* as it was */ }
  };

  // Buttons and a slider over 0..count; `go` moves, and `moved` hears of it.
  const stepper = (count, name, moved) => {
    let at = 0;
    const told = el("output", { class: "faint" });
    const button = (text, label, to, key) =>
      el("button", { type: "button", "aria-label": label, title: label + " (" + key + ")", on: { click: () => go(to()) } }, text);
    const slider = el("input", { type: "range", min: 0, max: count, "aria-label": name, on: { input: () => go(+slider.value) } });
    const parts = [
      button("|◀", "To the beginning", () => 0, "Home"), button("◀", "One step back", () => at - 1, "p or ←"),
      button("▶", "One step forward", () => at + 1, "n or →"), button("▶|", "To the end", () => count, "End"),
    ];
    const go = (to) => {
      at = Math.max(0, Math.min(count, Math.round(to) || 0));
      slider.value = at;
      parts[0].disabled = parts[1].disabled = at === 0;
      parts[2].disabled = parts[3].disabled = at === count;
      told.textContent = at + " of " + count;
      moved(at);
    };
    const node = el("div", { class: "stepper", role: "group", "aria-label": name }, el("span", { class: "group" }, ...parts), slider, told);
    return { node, go, at: () => at, count };
  };

  // Keys of the whole page, unless something that needs them itself has the focus.
  const keys = (actions) => document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = event.target;
    if (!on.matches || on.matches("input:not([type=range]), select, textarea")) return;
    if (on.matches("input[type=range]") && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    const action = actions[event.key];
    if (action && action(event) !== false) event.preventDefault();
  });

  // A sentence in which what stands between backticks is code.
  const prose = (text) => text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
  // Arrows stay with what comes after them.
  const tied = (text) => text.replaceAll("→ ", "→\u00a0").replaceAll("= ", "=\u00a0");

  // Tells whoever looks at the page from outside that it is there, and how long its scripts took.
  const ready = () => { Object.assign(document.documentElement.dataset, { ready: "yes", took: Math.round(performance.now() - begun) }); };
  // Moves what scrolls inside a box, and nothing else.
  const reveal = (box, item, part = 0.4) => {
    const inside = item.getBoundingClientRect(), outside = box.getBoundingClientRect();
    const top = inside.top - outside.top, room = box.clientHeight;
    if (top < 30 || top + inside.height > room - 10) box.scrollTop += top - room * part;
  };
  return { data, $, el, svg, asked, remember, stepper, keys, prose, tied, ready, reveal };
})();
