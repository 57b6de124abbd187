"use strict";
// The page of a history: lanes on a canvas, the order beside it, and a list of everything for those who cannot see the canvas.
// Only `textContent` ever receives what came from a file.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const LANE = 34, BAR = 22, HEAD = 26, SIDE = 92;
  const ops = data.ops.map((op, i) => ({ i, lane: op[0], call: op[1], end: op[2], label: op[3], lines: op[4] }));
  const last = data.events;
  const blamed = new Set(data.violation.slice(0, 1)), near = new Set(data.violation.slice(1));
  const lanes = data.lanes.map(() => []);
  for (const op of ops) lanes[op.lane].push(op);
  for (const lane of lanes) lane.sort((a, b) => a.call - b.call);
  const until = (op) => (op.end === null ? last : op.end);

  // The order that is shown: one of `data.orders`, and how far it has been followed.
  let order = null, step = 0, points = [], position = new Map();
  let selected = null, found = [], at = -1;
  let left = 0, scale = 12, width = 800, ratio = 1;

  const canvas = $("lanes"), pen = canvas.getContext("2d");
  const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let colours = {};
  const readTheme = () => {
    for (const name of ["ground", "ink", "faint", "line", "bar", "bar-edge", "bar-ink", "done", "done-edge", "bad", "bad-edge", "bad-ink",
      "near", "near-edge", "focus", "point"]) colours[name] = theme("--" + name);
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
    scale = Math.min(90, (width - SIDE) / (room * 1.15 + 1));
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

  const paintBar = (op, y) => {
    const from = Math.max(x(op.call), SIDE - 4), to = Math.min(x(until(op)), width + 4), wide = Math.max(to - from, 1.5);
    const placed = order && position.has(op.i) && position.get(op.i) < step;
    const kind = blamed.has(op.i) ? "bad" : near.has(op.i) ? "near" : placed ? "done" : "bar";
    pen.fillStyle = colours[kind];
    pen.strokeStyle = colours[kind + "-edge"];
    pen.lineWidth = op === selected ? 3 : 1;
    if (op.end === null) pen.setLineDash([5, 3]);
    pen.beginPath();
    if (wide < 5) { pen.rect(from, y, wide, BAR); } else { pen.roundRect(from, y, wide, BAR, 4); }
    pen.fill();
    if (wide > 3) pen.stroke();
    pen.setLineDash([]);
    if (wide > 22) {
      pen.save();
      pen.beginPath(); pen.rect(from + 3, y, wide - 6, BAR); pen.clip();
      pen.fillStyle = kind === "bad" ? colours["bad-ink"] : colours["bar-ink"];
      pen.fillText(op.label, from + 6, y + BAR / 2 + 0.5);
      pen.restore();
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
      if (end - drawn < 0.5 && !blamed.has(op.i) && !near.has(op.i)) continue;
      paintBar(op, y);
      drawn = end;
    }
  };

  const paintPoints = () => {
    if (!order) return;
    pen.strokeStyle = colours.point; pen.fillStyle = colours.point; pen.lineWidth = 1.2;
    pen.beginPath();
    let pendown = false;
    const visible = [];
    for (let i = 0; i < step; i++) {
      const px = x(points[i]);
      if (px < SIDE - 60) continue;
      if (px > width + 60) break;
      const py = HEAD + ops[order.ops[i]].lane * LANE + LANE / 2;
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
    document.documentElement.dataset.ready = "yes";
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
    width = canvas.parentElement.clientWidth; ratio = window.devicePixelRatio || 1;
    const high = HEAD + lanes.length * LANE + 8;
    canvas.width = width * ratio; canvas.height = high * ratio; canvas.style.height = high + "px";
    clampView(); draw();
  };

  // Details.
  const select = (op, move) => {
    selected = op;
    const box = $("details");
    box.replaceChildren();
    if (!op) { box.textContent = "Click an operation, or use the arrow keys."; draw(); return; }
    const list = document.createElement("dl");
    const row = (name, value) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name; dd.textContent = value; list.append(dt, dd);
    };
    row("operation", op.label); row("thread", data.lanes[op.lane]); row("in the file", op.lines);
    row("called at", "event " + op.call);
    row("returned at", op.end === null ? "never" : "event " + op.end);
    if (order && position.has(op.i)) row("in the order", "number " + (position.get(op.i) + 1));
    if (data.notes[op.i]) row("here", data.notes[op.i]);
    box.append(list);
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

  // The order, step by step.
  const choose = (number) => {
    order = data.orders[number] || null;
    position = new Map(); points = [];
    $("order").replaceChildren();
    if (!order) { $("walk").hidden = true; $("orderbox").hidden = true; return; }
    let before = 0;
    order.ops.forEach((i, n) => {
      position.set(i, n);
      // As early as its call and the operations before it allow.
      before = Math.max(before, ops[i].call + 0.15) + (before >= ops[i].call + 0.15 ? 0.04 : 0);
      points.push(before);
    });
    $("walk").hidden = false; $("orderbox").hidden = false;
    $("ordername").textContent = order.name;
    $("slider").max = order.ops.length;
    walk(order.start === undefined ? order.ops.length : order.start);
  };
  const ROWS = 60;
  const walk = (to, move) => {
    if (!order) return;
    step = Math.max(0, Math.min(order.ops.length, to));
    $("slider").value = step;
    $("stepname").textContent = step + " of " + order.ops.length;
    $("holds").textContent = (step === 0 ? order.initial : order.states[step - 1]) || "";
    $("next").textContent = step === order.ops.length && order.after ? order.after : "";
    const list = $("order"), first = Math.max(0, Math.min(step - ROWS / 2, order.ops.length - ROWS));
    list.replaceChildren();
    for (let n = first; n < Math.min(order.ops.length, first + ROWS); n++) {
      const item = document.createElement("li"), button = document.createElement("button");
      const number = document.createElement("span"), label = document.createElement("span");
      number.className = "n"; number.textContent = n + 1;
      label.className = "mono"; label.textContent = ops[order.ops[n]].label;
      button.append(number, label);
      if (order.moved && order.moved[n]) {
        const moved = document.createElement("span");
        moved.className = "moved"; moved.textContent = order.moved[n] > 0 ? "late by " + order.moved[n] : "early by " + -order.moved[n];
        button.append(moved);
      }
      if (n === step - 1) button.setAttribute("aria-current", "step");
      button.addEventListener("click", () => { walk(n + 1, true); select(ops[order.ops[n]], true); });
      item.append(button); list.append(item);
      if (n === step - 1) list.scrollTop = Math.max(0, item.offsetTop - list.offsetTop - 120);
    }
    if (move && step > 0) select(ops[order.ops[step - 1]], true);
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
  let page = 0;
  const listAll = () => {
    const body = $("rows");
    body.replaceChildren();
    for (const op of ops.slice(page * PAGE, (page + 1) * PAGE)) {
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
    $("pagename").textContent = "page " + (page + 1) + " of " + pages;
    $("back").disabled = page === 0; $("forth").disabled = page + 1 >= pages;
  };

  const on = (id, action) => $(id).addEventListener("click", action);
  on("in", () => zoom(1.5)); on("out", () => zoom(1 / 1.5)); on("fit", fit); on("violation", showViolation);
  on("first", () => walk(0, true)); on("prev", () => walk(step - 1, true)); on("forward", () => walk(step + 1, true));
  on("end", () => walk(order ? order.ops.length : 0, true));
  on("fprev", () => nextFound(-1)); on("fnext", () => nextFound(1));
  on("back", () => { page--; listAll(); }); on("forth", () => { page++; listAll(); });
  $("slider").addEventListener("input", (event) => walk(+event.target.value));
  $("search").addEventListener("input", (event) => search(event.target.value));
  $("search").addEventListener("keydown", (event) => { if (event.key === "Enter") nextFound(event.shiftKey ? -1 : 1); });
  if (data.orders.length > 1) {
    for (const [n, one] of data.orders.entries()) {
      const option = document.createElement("option");
      option.value = n; option.textContent = one.name; $("orders").append(option);
    }
    $("orders").addEventListener("change", (event) => choose(+event.target.value));
  } else { $("orders").hidden = true; }

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
  const keys = {
    ArrowRight: () => beside(1), ArrowLeft: () => beside(-1), ArrowUp: () => across(-1), ArrowDown: () => across(1),
    "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), f: fit, v: showViolation,
    n: () => walk(step + 1, true), p: () => walk(step - 1, true), "/": () => $("search").focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, button, summary") && event.target !== canvas || event.ctrlKey || event.metaKey) return;
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  window.addEventListener("resize", resize);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); draw(); });

  readTheme(); resize(); listAll();
  $("violation").disabled = !data.violation.length;
  choose(0);
  showViolation();
  select(data.violation.length ? ops[data.violation[0]] : null);
})();
