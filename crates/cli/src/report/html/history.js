// The lanes of a history on a canvas, with search and details. `orders.js` follows orders through them.
const board = (() => {
  const { data, $, el } = page;
  const LANE = 34, BAR = 22, HEAD = 26, SIDE = 92, STRIP = 26;
  const ops = data.ops.map((op, i) => ({ i, lane: op[0], call: op[1], end: op[2], label: op[3], lines: op[4] }));
  const last = data.events;
  const blamed = new Set(data.violation.slice(0, 1)), near = new Set(data.violation.slice(1));
  const lanes = data.lanes.map(() => []);
  for (const op of ops) lanes[op.lane].push(op);
  for (const lane of lanes) lane.sort((a, b) => a.call - b.call);
  const until = (op) => (op.end === null ? last : op.end);

  // The order that is shown, how far it has been followed, and what does not fit after it.
  let order = null, step = 0, points = [], position = new Map(), stuck = new Set();
  let selected = null, found = [], at = -1;
  let left = 0, scale = 12, width = 800, ratio = 1;

  const canvas = $("lanes"), pen = canvas.getContext("2d"), strip = $("overview"), thin = strip.getContext("2d");
  const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let colours = {};
  const readTheme = () => {
    for (const name of ["ground", "ink", "faint", "line", "bar", "bar-edge", "bar-ink", "done", "done-edge", "bad", "bad-edge", "bad-ink",
      "near", "near-edge", "near-ink", "focus", "point", "panel"]) colours[name] = theme("--" + name);
  };

  const x = (event) => SIDE + (event - left) * scale;
  const clampView = () => {
    const room = (width - SIDE) / scale;
    left = Math.max(-1, Math.min(left, Math.max(-1, last + 1 - room)));
  };
  const zoom = (factor, about = SIDE + (width - SIDE) / 2) => {
    const event = left + (about - SIDE) / scale;
    scale = Math.max((width - SIDE) / (last + 4), Math.min(400, scale * factor));
    left = event - (about - SIDE) / scale;
    clampView(); draw();
  };
  const show = (from, to) => {
    const room = Math.max(6, to - from);
    scale = Math.min(150, (width - SIDE) / (room * 1.15 + 1));
    left = from - room * 0.07 - 0.5;
    clampView(); draw();
  };
  const fit = () => show(0, last);
  const showViolation = () => {
    if (!data.violation.length) { show(0, Math.min(last, 24)); return; }
    let from = Infinity, to = 0;
    for (const i of data.violation) {
      const op = ops[i];
      from = Math.min(from, op.call);
      to = Math.max(to, op.end === null ? op.call + 4 : op.end);
    }
    // An operation that fits nowhere is understood by what was open before it.
    if (data.violation.length === 1) { from = Math.max(0, from - 12); to += 3; }
    show(from, to);
  };

  // The first operation of the lane that ends after `event`.
  const firstVisible = (lane, event) => {
    let low = 0, high = lane.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (until(lane[middle]) < event) low = middle + 1; else high = middle;
    }
    return low;
  };

  // The label stands on the bar, or beside it where there is room until the next one.
  const paintLabel = (op, y, from, wide, room, kind) => {
    const long = op.label.length * 7.6;
    if (wide < long + 8 && room > long + 10) {
      pen.fillStyle = colours.ink;
      pen.fillText(op.label, from + wide + 5, y + BAR / 2 + 0.5);
    } else if (wide > 22) {
      pen.save();
      pen.beginPath(); pen.rect(from + 3, y, wide - 6, BAR); pen.clip();
      pen.fillStyle = kind === "bad" ? colours["bad-ink"] : kind === "near" ? colours["near-ink"] : colours["bar-ink"];
      pen.fillText(op.label, from + 6, y + BAR / 2 + 0.5);
      pen.restore();
    }
  };
  const paintBar = (op, y, room) => {
    const from = Math.max(x(op.call), SIDE - 4), to = Math.min(x(until(op)), width + 4), wide = Math.max(to - from, 1.5);
    const placed = order && position.has(op.i) && position.get(op.i) < step;
    const kind = blamed.has(op.i) ? "bad" : near.has(op.i) || stuck.has(op.i) ? "near" : placed ? "done" : "bar";
    pen.fillStyle = colours[kind];
    pen.strokeStyle = colours[kind + "-edge"];
    pen.lineWidth = op === selected ? 3 : 1;
    if (op.end === null) pen.setLineDash([5, 3]);
    pen.beginPath();
    if (wide < 5) { pen.rect(from, y, wide, BAR); } else { pen.roundRect(from, y, wide, BAR, 4); }
    pen.fill();
    if (wide > 3) pen.stroke();
    pen.setLineDash([]);
    paintLabel(op, y, from, wide, room, kind);
    // What shows the violation is seen from afar, too.
    if (wide < 12 && (kind === "bad" || kind === "near")) {
      pen.fillStyle = colours[kind + "-edge"];
      pen.beginPath(); pen.moveTo(from - 5, y - 6); pen.lineTo(from + wide + 5, y - 6); pen.lineTo(from + wide / 2, y + 1); pen.fill();
    }
    if (at >= 0 && found[at] === op) {
      pen.strokeStyle = colours.focus; pen.lineWidth = 2; pen.strokeRect(from - 2, y - 2, wide + 4, BAR + 4);
    }
  };

  const paintLane = (number) => {
    const lane = lanes[number], y = HEAD + number * LANE + (LANE - BAR) / 2, right = left + (width - SIDE) / scale;
    let drawn = -Infinity;
    for (let i = firstVisible(lane, left - 1); i < lane.length && lane[i].call <= right; i++) {
      const op = lane[i], end = x(until(op));
      // What would cover less than half a pixel beside its neighbour is not worth a call to the canvas.
      if (end - drawn < 0.5 && !blamed.has(op.i) && !near.has(op.i) && !stuck.has(op.i)) continue;
      const next = i + 1 < lane.length ? x(lane[i + 1].call) : width;
      paintBar(op, y, Math.min(next, width) - end);
      drawn = end;
    }
  };

  const firstPoint = () => {
    let low = 0, high = step;
    while (low < high) { const middle = (low + high) >> 1; if (x(points[middle]) < SIDE - 60) low = middle + 1; else high = middle; }
    return Math.max(0, low - 1);
  };
  const paintPoints = () => {
    if (!order) return;
    pen.strokeStyle = colours.point; pen.fillStyle = colours.point; pen.lineWidth = 1.2;
    pen.beginPath();
    let pendown = false;
    const visible = [];
    for (let i = firstPoint(); i < step; i++) {
      const px = x(points[i]);
      if (px > width + 60) break;
      if (order.ops[i] >= ops.length) continue;
      const py = HEAD + ops[order.ops[i]].lane * LANE + (LANE - BAR) / 2;
      if (pendown) pen.lineTo(px, py); else pen.moveTo(px, py);
      pendown = true;
      visible.push([px, py, i + 1]);
    }
    pen.globalAlpha = 0.45; pen.stroke(); pen.globalAlpha = 1;
    if (visible.length < 1500) for (const [px, py] of visible) { pen.beginPath(); pen.arc(px, py, 3.2, 0, 7); pen.fill(); }
  };

  let pendingFrame = false;
  const draw = () => { if (!pendingFrame) { pendingFrame = true; requestAnimationFrame(paint); } };
  const paint = () => {
    pendingFrame = false;
    const high = HEAD + lanes.length * LANE + 8;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.ground; pen.fillRect(0, 0, width, high);
    pen.font = "12.5px ui-monospace, 'DejaVu Sans Mono', monospace"; pen.textBaseline = "middle";
    for (let i = 0; i < lanes.length; i++) paintLane(i);
    paintPoints();
    pen.fillStyle = colours.ground; pen.fillRect(0, 0, SIDE - 5, high);
    pen.strokeStyle = colours.line; pen.lineWidth = 1;
    for (let i = 0; i <= lanes.length; i++) {
      const y = Math.round(HEAD + i * LANE) + 0.5;
      pen.beginPath(); pen.moveTo(0, y); pen.lineTo(width, y); pen.stroke();
    }
    pen.fillStyle = colours.faint;
    data.lanes.forEach((name, i) => pen.fillText(clip(name), 10, HEAD + i * LANE + LANE / 2));
    axis();
    paintStrip();
  };
  // The whole history in a strip: what shows the violation, what was found, and which part is in view.
  const paintStrip = () => {
    const room = width - SIDE - 8, to = (event) => SIDE + (event / last) * room;
    thin.setTransform(ratio, 0, 0, ratio, 0, 0);
    thin.fillStyle = colours.panel; thin.fillRect(0, 0, width, STRIP);
    thin.fillStyle = colours.line; thin.fillRect(SIDE, STRIP / 2 - 1, room, 2);
    const from = Math.max(0, left), until = Math.min(last, left + (width - SIDE) / scale);
    thin.globalAlpha = 0.25; thin.fillStyle = colours.focus; thin.fillRect(to(from), 3, Math.max(4, to(until) - to(from)), STRIP - 6); thin.globalAlpha = 1;
    thin.strokeStyle = colours.focus; thin.strokeRect(to(from), 3, Math.max(4, to(until) - to(from)), STRIP - 6);
    const tick = (event, colour) => { thin.fillStyle = colour; thin.fillRect(to(event) - 1, 5, 2.5, STRIP - 10); };
    for (const op of found.slice(0, 2000)) tick(op.call, colours.focus);
    for (const i of near) tick(ops[i].call, colours["near-edge"]);
    for (const i of blamed) tick(ops[i].call, colours["bad-edge"]);
    thin.fillStyle = colours.faint; thin.font = "12px system-ui, sans-serif"; thin.textBaseline = "middle"; thin.fillText("all", 10, STRIP / 2);
  };
  const clip = (name) => (name.length > 10 ? name.slice(0, 9) + "…" : name);
  const axis = () => {
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000].find((n) => n * scale > 70) || 100000;
    for (let event = Math.max(0, Math.ceil(left / every) * every); event <= last && x(event) < width; event += every) {
      if (x(event) < SIDE) continue;
      pen.fillText(String(event), x(event) + 3, HEAD / 2);
      pen.beginPath(); pen.moveTo(x(event) + 0.5, 4); pen.lineTo(x(event) + 0.5, HEAD); pen.stroke();
    }
    pen.fillText("event", 10, HEAD / 2);
  };

  const resize = () => {
    const before = width;
    width = canvas.parentElement.clientWidth; ratio = window.devicePixelRatio || 1;
    // The same events stay in view.
    scale *= Math.max(40, width - SIDE) / Math.max(40, before - SIDE);
    const high = HEAD + lanes.length * LANE + 8;
    canvas.width = width * ratio; canvas.height = high * ratio; canvas.style.height = high + "px";
    strip.width = width * ratio; strip.height = STRIP * ratio; strip.style.height = STRIP + "px";
    clampView(); draw();
  };

  // Details.
  const select = (op, move) => {
    selected = op;
    const box = $("details");
    if (!op) { box.replaceChildren(el("p", { class: "faint" }, "Click an operation, or use the arrow keys.")); draw(); return; }
    const rows = [["operation", op.label], ["thread", data.lanes[op.lane]], ["in the file", op.lines], ["called at", "event " + op.call],
      ["returned at", op.end === null ? "never" : "event " + op.end]];
    if (order && position.has(op.i)) rows.push(["in the order", "number " + (position.get(op.i) + 1)]);
    if (data.notes[op.i]) rows.push(["here", data.notes[op.i]]);
    box.replaceChildren(el("dl", {}, ...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
    if (move) {
      const from = left, to = left + (width - SIDE) / scale;
      if (op.call < from || op.call > to) { left = op.call - (to - from) / 3; clampView(); }
    }
    draw();
  };
  const hit = (px, py) => {
    const lane = Math.floor((py - HEAD) / LANE);
    if (lane < 0 || lane >= lanes.length || px < SIDE) return null;
    const event = left + (px - SIDE) / scale, slack = 3 / scale;
    for (let i = firstVisible(lanes[lane], event - slack); i < lanes[lane].length; i++) {
      const op = lanes[lane][i];
      if (op.call > event + slack) return null;
      if (until(op) >= event - slack) return op;
    }
    return null;
  };

  // Shows an order, or none, as far as it has been followed.
  const follow = (next, to, blocked) => {
    if (next !== order) {
      order = next;
      position = new Map(); points = [];
      let before = 0;
      for (const [n, i] of (order ? order.ops : []).entries()) {
        position.set(i, n);
        // As early as its call and the operations before it allow.
        const call = (i < ops.length ? ops[i].call : last) + 0.15;
        before = Math.max(before, call) + (before >= call ? 0.04 : 0);
        points.push(before);
      }
    }
    step = to; stuck = new Set(blocked);
    draw();
  };

  // Search.
  const search = (text) => {
    const wanted = text.trim().toLowerCase();
    found = wanted ? ops.filter((op) => op.label.toLowerCase().includes(wanted) || data.lanes[op.lane].toLowerCase() === wanted) : [];
    at = found.length ? 0 : -1;
    $("found").textContent = wanted ? (found.length ? "1 of " + found.length : "nothing found") : "";
    if (at === 0) select(found[0], true); else draw();
  };
  const nextFound = (by) => {
    if (!found.length) return;
    at = (at + by + found.length) % found.length;
    $("found").textContent = at + 1 + " of " + found.length;
    select(found[at], true);
  };

  // The list of everything, in pages.
  const PAGE = 200;
  let sheet = 0;
  const listAll = () => {
    const body = $("rows");
    body.replaceChildren();
    for (const op of ops.slice(sheet * PAGE, (sheet + 1) * PAGE)) {
      const row = document.createElement("tr");
      if (blamed.has(op.i) || near.has(op.i)) row.className = "bad";
      const button = document.createElement("button");
      button.textContent = op.label;
      button.addEventListener("click", () => { select(op, true); canvas.scrollIntoView({ block: "nearest" }); });
      const cells = [data.lanes[op.lane], button, op.call, op.end === null ? "never" : op.end, op.lines, data.notes[op.i] || ""];
      for (const cell of cells) {
        const td = document.createElement("td");
        td.append(cell); row.append(td);
      }
      body.append(row);
    }
    const pages = Math.max(1, Math.ceil(ops.length / PAGE));
    $("pagename").textContent = "page " + (sheet + 1) + " of " + pages;
    $("back").disabled = sheet === 0; $("forth").disabled = sheet + 1 >= pages;
  };

  const on = (id, action) => $(id).addEventListener("click", action);
  on("in", () => zoom(1.5)); on("out", () => zoom(1 / 1.5)); on("fit", fit); on("violation", showViolation);
  on("fprev", () => nextFound(-1)); on("fnext", () => nextFound(1));
  on("back", () => { sheet--; listAll(); }); on("forth", () => { sheet++; listAll(); });
  $("search").addEventListener("input", (event) => search(event.target.value));
  $("search").addEventListener("keydown", (event) => { if (event.key === "Enter") nextFound(event.shiftKey ? -1 : 1); });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, left, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (Math.abs(event.offsetX - drag.x) > 3) drag.moved = true;
    if (drag.moved) { left = drag.left - (event.offsetX - drag.x) / scale; clampView(); draw(); }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) select(hit(event.offsetX, event.offsetY));
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault(); zoom(Math.exp(-event.deltaY / 300), event.offsetX);
    } else if (Math.abs(event.deltaX) > 0 || event.shiftKey) {
      event.preventDefault(); left += (event.deltaX || event.deltaY) / scale; clampView(); draw();
    }
  }, { passive: false });
  const beside = (by) => {
    if (!selected) { select(ops[data.violation[0] || 0], true); return; }
    const lane = lanes[selected.lane], next = lane[lane.indexOf(selected) + by];
    if (next) select(next, true);
  };
  const across = (by) => {
    if (!selected) { beside(0); return; }
    for (let lane = selected.lane + by; lane >= 0 && lane < lanes.length; lane += by) {
      const next = lanes[lane][Math.min(firstVisible(lanes[lane], selected.call), lanes[lane].length - 1)];
      if (next) { select(next, true); return; }
    }
  };
  page.keys({
    ArrowRight: () => beside(1), ArrowLeft: () => beside(-1), ArrowUp: () => across(-1), ArrowDown: () => across(1),
    "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), f: fit, v: showViolation, "/": () => $("search").focus(),
  });
  const pan = (event) => { left = ((event.offsetX - SIDE) / (width - SIDE - 8)) * last - (width - SIDE) / scale / 2; clampView(); draw(); };
  strip.addEventListener("pointerdown", (event) => { strip.setPointerCapture(event.pointerId); pan(event); });
  strip.addEventListener("pointermove", (event) => { if (event.buttons) pan(event); });
  new ResizeObserver(() => { if (canvas.parentElement.clientWidth !== width) resize(); }).observe(canvas.parentElement);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); draw(); });
  // Paper is white, whatever the screen is.
  const onPaper = (is) => { document.documentElement.classList.toggle("paper", is); readTheme(); paint(); };
  window.addEventListener("beforeprint", () => onPaper(true));
  window.addEventListener("afterprint", () => onPaper(false));

  // What stands beside the lanes decides how wide they are.
  $("orderbox").hidden = !data.orders.length;
  readTheme(); resize(); listAll();
  $("violation").disabled = !data.violation.length;
  $("badkey").hidden = !data.violation.length;
  $("placedkey").hidden = !data.orders.length;
  $("nearkey").hidden = data.violation.length < 2 && !data.orders.some((one) => one.stuck);
  $("openkey").hidden = !ops.some((op) => op.end === null);
  showViolation();
  select(data.violation.length ? ops[data.violation[0]] : null);
  const label = (i) => (i < ops.length ? ops[i].label : data.later[i - ops.length] + " (would follow)");
  return { ops, label, select, follow, paint };
})();
