// Orders through a history: step by step, with what does not fit after them; for quasi linearizability the legal run beside; and counters.
(() => {
  const { data, $, el, svg } = page;
  const { ops, label } = board;
  const ROWS = 60, HEIGHT = 24;
  let order = null, walker = null, touched = false;

  const late = (by) => (by > 0 ? "late by " + by : "early by " + -by);
  const pick = (i, move) => { if (i < ops.length) board.select(ops[i], move); };

  // Which rows are shown when so many are followed.
  const from = (step) => Math.max(0, Math.min(step - ROWS / 2, order.ops.length - ROWS));

  const listOrder = (step) => {
    const list = $("order"), rows = [];
    let current = null;
    for (let n = from(step); n < Math.min(order.ops.length, from(step) + ROWS); n++) {
      const button = el("button", { type: "button", "aria-current": n === step - 1 ? "step" : null, on: { click: () => { go(n + 1); pick(order.ops[n], true); } } },
        el("span", { class: "n" }, n + 1), el("span", { class: "mono" }, label(order.ops[n])));
      const row = el("li", { class: n < step ? "" : "later" }, button);
      if (n === step - 1) current = row;
      rows.push(row);
    }
    list.replaceChildren(...rows);
    if (current) list.scrollTop = Math.max(0, current.offsetTop - list.offsetTop - 120); else list.scrollTop = 0;
  };

  // The linearization on the left, the legal run on the right, and how far each operation is from its place.
  const listPair = (step) => {
    const first = from(step), until = Math.min(order.ops.length, first + ROWS), where = new Map();
    order.run.forEach((place, n) => where.set(place, n));
    const row = (n, i, moved, side) => el("li", { class: (n < step ? "" : "later") + (n === step - 1 ? " now" : "") },
      el("button", { type: "button", on: { click: () => { go(n + 1); pick(i, true); } } }, el("span", { class: "n" }, n + 1), el("span", { class: "mono" }, label(i)),
        side && moved ? el("span", { class: "moved" }, late(moved)) : null));
    const left = [], right = [], lines = [];
    for (let n = first; n < until; n++) {
      left.push(row(n, order.ops[n], (order.moved || [])[n], true));
      right.push(row(n, order.ops[order.run[n]], 0, false));
      const to = where.get(n), moved = (order.moved || [])[n] || 0;
      if (to !== undefined) lines.push(svg("path", { d: `M0 ${(n - first + 0.5) * HEIGHT}C30 ${(n - first + 0.5) * HEIGHT} 40 ${(to - first + 0.5) * HEIGHT} 70 ${(to - first + 0.5) * HEIGHT}`,
        class: "tie" + (moved ? " moved" : "") + (n < step ? "" : " later") }));
    }
    const high = (until - first) * HEIGHT;
    const table = el("div", { class: "pair" },
      el("ol", { "aria-label": "Linearization" }, ...left),
      svg("svg", { width: 70, height: high, viewBox: `0 0 70 ${high}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...lines),
      el("ol", { "aria-label": "Legal run" }, ...right));
    const box = el("div", { class: "scroll tall" }, table);
    const furthest = Math.max(0, ...(order.moved || []).map(Math.abs));
    $("pair").replaceChildren(el("h3", {}, "Linearization and legal run"),
      el("p", { class: "faint" }, furthest ? `Places are counted among the operations of one class; the furthest is ${furthest} from its place.` : "No operation is out of its place."),
      el("div", { class: "pair heads", "aria-hidden": "true" }, el("strong", {}, "linearization"), el("span", {}), el("strong", {}, "legal run")), box);
    if (step) box.scrollTop = Math.max(0, (step - first - 1) * HEIGHT - 150);
  };

  const moved = (step) => {
    const at = order.ops.length === step, holds = step === 0 ? order.initial : order.states[step - 1 - order.skipped];
    $("holds").textContent = holds === undefined ? "" : holds;
    $("holdsline").hidden = holds === undefined || holds === "";
    $("holdsname").textContent = order.run ? "Holds along the legal run:" : "Holds:";
    $("next").textContent = at && order.after ? order.after : "";
    const stuck = at && order.stuck ? order.stuck : [];
    $("stuck").replaceChildren(...(stuck.length < 2 ? [] : stuck.map(([i, why]) => el("li", {},
      el("button", { type: "button", class: "plain mono", on: { click: () => pick(i, true) } }, label(i)), ": " + why))));
    if (order.run) { listPair(step); } else { listOrder(step); }
    board.follow(order, step, stuck.map(([i]) => i));
    if (touched && step > 0) pick(order.ops[step - 1], true);
    if (touched) page.remember({ order: data.orders.indexOf(order) + 1, step });
  };
  const go = (to) => { touched = true; walker.go(to); };

  const choose = (number, step) => {
    order = data.orders[number];
    walker = page.stepper(order.ops.length, "Place in the order", moved);
    $("walk").replaceChildren(walker.node);
    $("ordername").textContent = order.name;
    $("order").hidden = Boolean(order.run); $("pair").hidden = !order.run;
    walker.go(step !== undefined ? step : order.after ? order.ops.length : 0);
  };

  // The counters of A_k: slots as columns, what shows the violation as bars, and how many operations each counter has.
  const showCounting = (counting) => {
    const slots = counting.k + 1, name = (slot) => (slot === 0 && counting.length > counting.k ? "0 (all before)" : String(slot));
    const span = (first, last) => ({ "grid-column": `${first + 1} / ${last + 2}` });
    const window = el("div", { class: "slots", vars: { "--slots": slots } }, ...Array.from({ length: slots }, (_, slot) => el("div", { class: "slothead" }, name(slot))),
      ...counting.slots.map(([i, first, last]) => el("button", { type: "button", class: "slotbar mono", vars: span(first, last), on: { click: () => pick(i, true) } }, label(i))));
    const rows = counting.counters.map((one) => el("tr", { class: one.shows ? "bad" : "" }, el("td", { class: "mono" }, one.label),
      el("td", { class: "mono" }, "[" + one.first + "," + one.last + "]"), el("td", { class: "mono" }, one.count)));
    const head = el("tr", {}, ...["operations", "interval", "how many"].map((text) => el("th", { scope: "col" }, text)));
    $("counting").hidden = false;
    $("counting").replaceChildren(...[el("h3", {}, "What the counters see, k = " + counting.k),
      el("p", {}, `After ${counting.events} events the history has ${counting.length + 1} slots; ` +
        (counting.length > counting.k ? `the last ${counting.k} bounds between them are kept apart, all that is older is one.` : "all bounds between them are kept apart.") + " An operation counts in every slot that it may have taken effect in."),
      counting.slots.length ? window : null, ...counting.demands.map((text) => el("p", {}, text)),
      el("div", { class: "scroll short" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))),
      counting.left_out ? el("p", { class: "faint" }, counting.left_out.toLocaleString("en") + " more counters are left out.") : null].filter((part) => part));
  };

  const wanted = page.asked();
  if (data.orders.length) {
    const names = $("orders");
    names.hidden = data.orders.length < 2;
    names.append(...data.orders.map((one, n) => el("option", { value: n }, `${n + 1}. ${one.name} (${one.ops.length})`)));
    names.addEventListener("change", () => choose(+names.value));
    const number = Math.max(0, Math.min(data.orders.length, +wanted.order || 1) - 1);
    names.value = number;
    choose(number, wanted.step === undefined ? undefined : +wanted.step);
    // A place that was asked for is brought into view.
    if (wanted.step !== undefined && walker.at() > 0) pick(order.ops[walker.at() - 1], true);
    const by = (step) => () => go(walker.at() + step);
    page.keys({ n: by(1), p: by(-1), Home: () => go(0), End: () => go(order.ops.length) });
    window.addEventListener("hashchange", () => { const now = page.asked(); if (now.step !== undefined) go(+now.step); });
  }
  if (data.counting) showCounting(data.counting);
  board.paint();
  page.ready();
})();
