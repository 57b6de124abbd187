// The page of a model: each claim with its run as a message-sequence chart, and small state spaces as a graph.
(() => {
  const { data, $, el, svg, reveal } = page;
  const colour = (actor) => ({ "--thread": "var(--t" + ((actor + 1) % 8) + ")" });
  const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  const charts = [];
  let active = 0;

  // Which receive takes which message, and which return ends which call.
  const relations = (steps) => {
    const sent = new Map(), arrows = [], open = new Map(), spans = [];
    steps.forEach((step, n) => {
      const message = /^([^!?\s]+)([!?])(.*)$/.exec(step.label), who = step.who[0];
      if (message && step.who.length === 1) {
        const [, channel, way] = message;
        if (!sent.has(channel)) sent.set(channel, []);
        if (way === "!") sent.get(channel).push(n);
        else if (sent.get(channel).length) arrows.push([sent.get(channel).shift(), n]);
      }
      const operation = /^(.+)_(inv|res)(?:\.|$)/.exec(step.label);
      if (operation && who !== undefined) {
        const key = who + " " + operation[1];
        if (operation[2] === "inv") open.set(key, n);
        else if (open.has(key)) { spans.push([who, open.get(key), n]); open.delete(key); }
      }
    });
    for (const [key, n] of open) spans.push([+key.split(" ")[0], n, steps.length - 1, true]);
    return { arrows, spans };
  };

  // The message-sequence chart: a lifeline for each process, a row for each step.
  const chartView = (run, go) => {
    const ROW = 30, TOP = 46, LEFT = 44, count = run.steps.length, actors = run.actors.length ? run.actors : ["system"];
    const widest = Math.max(8, ...run.steps.map((step) => step.label.length), ...actors.map((name) => name.length));
    const column = Math.min(270, Math.max(120, widest * 7.6 + 44)), x = (i) => LEFT + column * (i + 0.5), y = (n) => TOP + ROW * (n + 0.75);
    const right = LEFT + column * actors.length + 12, noted = Math.max(0, ...run.steps.map((step) => Math.min(70, step.changed.length)));
    const wide = right + noted * 7.4 + 20, high = TOP + ROW * (count + 0.6) + 8;
    const chart = svg("svg", { class: "chart", width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": "Message-sequence chart; each step is told above as it is stepped to" },
      svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z", class: "head message" }))));
    const bands = run.steps.map((step, n) => svg("rect", { x: 0, y: TOP + ROW * n + 7, width: wide, height: ROW, class: "band", on: { click: () => go(n + 1) } }));
    chart.append(...bands);
    actors.forEach((name, i) => {
      chart.append(svg("line", { x1: x(i), x2: x(i), y1: 36, y2: high, class: "life", vars: colour(i) }),
        svg("rect", { x: x(i) - column / 2 + 10, y: 8, width: column - 20, height: 27, rx: 5, class: "actor", vars: colour(i) }),
        svg("text", { x: x(i), y: 26, class: "name" }, short(name, Math.floor((column - 24) / 8))));
    });
    const { arrows, spans } = relations(run.steps);
    for (const [who, first, last, open] of spans) chart.append(svg("rect", { x: x(who) - 6, y: y(first), width: 12, height: y(last) - y(first) + (open ? 12 : 0), class: "span" + (open ? " open" : ""), vars: colour(who) }));
    const rows = run.steps.map((step, n) => {
      const group = svg("g", { class: step.label === "τ" ? "step inner" : "step" }), who = step.who.length ? step.who : [0];
      group.append(svg("text", { x: 32, y: y(n) + 4, class: "number" }, n + 1));
      const xs = who.map(x), from = Math.min(...xs), to = Math.max(...xs);
      if (who.length > 1) group.append(svg("line", { x1: from, x2: to, y1: y(n), y2: y(n), class: "sync" }));
      for (const actor of who) group.append(svg("circle", { cx: x(actor), cy: y(n), r: step.label === "τ" ? 3.5 : 5, class: "dot", vars: colour(actor) }));
      const at = who.length > 1 ? (from + to) / 2 : from + 12, most = Math.floor((column - 24) / 7.4);
      group.append(svg("text", { x: at, y: y(n) + (who.length > 1 ? -5 : 4), class: who.length > 1 ? "action middle" : "action" }, short(step.label, Math.max(most, 4))));
      if (step.changed) group.append(svg("text", { x: right, y: y(n) + 4, class: "change" }, short(step.changed, 70)));
      return group;
    });
    for (const [from, to] of arrows) {
      const a = x(run.steps[from].who[0]), b = x(run.steps[to].who[0]);
      if (a !== b) chart.append(svg("line", { x1: a, y1: y(from), x2: b + (a < b ? -6 : 6), y2: y(to), class: "message", "marker-end": "url(#arrow)" }));
    }
    chart.append(...rows);
    if (run.repeats !== null && run.repeats < count) chart.append(svg("line", { x1: 6, x2: 6, y1: y(run.repeats) - 12, y2: y(count - 1) + 12, class: "again" }),
      svg("text", { x: 12, y: TOP + 2, class: "againtext" }, "↻ from step " + (run.repeats + 1) + " on for ever"));
    const box = el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Chart of the run" }, chart);
    const show = (step) => {
      rows.forEach((row, n) => { row.classList.toggle("later", n >= step); row.classList.toggle("now", n === step - 1); });
      bands.forEach((band, n) => band.classList.toggle("now", n === step - 1));
      if (step) reveal(box, bands[step - 1]);
    };
    return { node: el("section", { class: "panel" }, el("h3", {}, "The run, top to bottom in time"),
      run.left_out ? el("p", { class: "faint" }, run.left_out.toLocaleString("en") + " more steps are left out.") : null, box), show };
  };

  // What the state is after each step, variable by variable.
  const stateView = (run) => {
    if (run.initial === null) return null;
    const heading = el("h3", {}), body = el("tbody", {});
    // Values have no blanks inside, except in lists of them.
    const read = (text) => (text || "").split(" ").filter((word) => word).map((word) => { const at = word.indexOf("="); return at < 0 ? [word, ""] : [word.slice(0, at), word.slice(at + 1)]; });
    const show = (step) => {
      const now = read(step ? run.steps[step - 1].state : run.initial), before = new Map(read(step > 1 ? run.steps[step - 2].state : run.initial));
      heading.textContent = step ? "The state after step " + step : "The state before the first step";
      const who = step && run.steps[step - 1].who.length ? run.steps[step - 1].who[0] : 0;
      body.replaceChildren(...now.map(([name, value]) => {
        const changed = step && before.get(name) !== value;
        return el("tr", { class: changed ? "changed" : "", vars: colour(who) }, el("td", { class: "mono" }, name),
          el("td", { class: "mono" }, ...(changed && before.has(name) ? [el("span", { class: "was" }, before.get(name)), " → ", el("strong", {}, value)] : [value])));
      }));
    };
    return { node: el("section", { class: "panel" }, heading, el("div", { class: "scroll short" }, el("table", {}, body))), show };
  };

  // Layers by distance from the initial states; in a layer, states stand where those before them stand.
  const layout = (space) => {
    const count = space.states.length, next = Array.from({ length: count }, () => []), layer = new Array(count).fill(-1), layers = [];
    for (const [from, to] of space.steps) next[from].push(to);
    let front = space.states.map((_, i) => i).filter((i) => space.states[i][1]);
    for (; front.length; front = [...new Set(front.flatMap((i) => next[i]))].filter((i) => layer[i] < 0)) {
      for (const i of front) layer[i] = layers.length;
      layers.push(front);
    }
    const place = new Array(count).fill(0), mean = (list, otherwise) => (list.length ? list.reduce((a, b) => a + b, 0) / list.length : otherwise);
    layers.forEach((row) => row.forEach((i, n) => { place[i] = n - (row.length - 1) / 2; }));
    for (let sweep = 0; sweep < 8; sweep++) {
      const down = sweep % 2 === 0, near = Array.from({ length: count }, () => []);
      for (const [from, to] of space.steps) {
        if (layer[to] === layer[from] + 1) { if (down) near[to].push(place[from]); else near[from].push(place[to]); }
      }
      for (const row of down ? layers : [...layers].reverse()) {
        row.sort((a, b) => mean(near[a], place[a]) - mean(near[b], place[b]));
        row.forEach((i, n) => { place[i] = n - (row.length - 1) / 2; });
      }
    }
    return { layer, layers, place };
  };

  // The states that the run goes through, where they can be told.
  const path = (space, run) => {
    if (!run) return [];
    const named = (name) => (i) => name === null || space.states[i][0] === name;
    let sets = [space.states.map((_, i) => i).filter((i) => space.states[i][1]).filter(named(run.initial))];
    for (const step of run.steps) {
      const here = new Set(sets[sets.length - 1]);
      const reached = space.steps.filter(([from, to, label]) => here.has(from) && label === step.label && named(step.state)(to)).map(([, to]) => to);
      if (!reached.length) return [];
      sets.push([...new Set(reached)]);
    }
    const chosen = [sets[sets.length - 1][0]];
    for (let n = run.steps.length - 1; n >= 0; n--) {
      const edge = space.steps.find(([from, to, label]) => to === chosen[0] && label === run.steps[n].label && sets[n].includes(from));
      if (!edge) return [];
      chosen.unshift(edge[0]);
    }
    return chosen;
  };

  const graphView = (space, run) => {
    const { layer, layers, place } = layout(space), most = Math.max(...layers.map((row) => row.length));
    const names = space.states.map(([name], i) => (name === String(i) || name.length > 26 ? String(i) : name));
    const box = Math.max(34, ...names.map((name) => name.length * 7.6 + 18)), gapX = box + 34, gapY = 92;
    const wide = Math.max(most * gapX + 90, 300), high = layers.length * gapY + 10;
    const x = (i) => (wide - 50) / 2 + place[i] * gapX, y = (i) => 30 + layer[i] * gapY, way = path(space, run);
    const onWay = new Set(way.slice(1).map((to, n) => way[n] + " " + to));
    const drawing = svg("svg", { class: "space", width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": space.states.length + " states and their steps; the same is in the list below" },
      svg("defs", {}, ...["plain", "way"].map((kind) => svg("marker", { id: "to-" + kind, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z", class: "head " + kind })))));
    const edges = new Map();
    for (const [from, to, label, hidden] of space.steps) {
      const key = from + " " + to;
      if (!edges.has(key)) edges.set(key, { from, to, labels: [], hidden: true });
      edges.get(key).labels.push(label);
      edges.get(key).hidden = edges.get(key).hidden && hidden;
    }
    const texts = [];
    for (const [key, edge] of edges) {
      const { from, to } = edge, kind = onWay.has(key) ? "way" : "plain", x1 = x(from), x2 = x(to);
      let d, at;
      if (from === to) {
        d = `M${x1 + box / 2} ${y(from) - 6}c26 -14 26 26 0 12`; at = [x1 + box / 2 + 22, y(from) + 3];
      } else if (layer[to] > layer[from]) {
        const y1 = y(from) + 14, y2 = y(to) - 14;
        d = `M${x1} ${y1}C${x1} ${y1 + 34} ${x2} ${y2 - 34} ${x2} ${y2}`; at = [x1 + (x2 - x1) * 0.5, (y1 + y2) / 2];
      } else {
        const side = Math.max(x1, x2) + box / 2 + 14 + 7 * (layer[from] - layer[to]);
        d = `M${x1 + box / 2} ${y(from)}C${side + 14} ${y(from)} ${side + 14} ${y(to)} ${x2 + box / 2} ${y(to)}`; at = [side + 4, (y(from) + y(to)) / 2];
      }
      const label = [...new Set(edge.labels)].join(", ");
      drawing.append(svg("path", { d, class: "step " + kind + (edge.hidden ? " inner" : ""), "marker-end": `url(#to-${kind})` }, svg("title", {}, label)));
      if (edges.size <= 60 || kind === "way") texts.push(svg("text", { x: at[0], y: at[1] + 4, class: from === to ? "label start" : "label" }, short(label, 22)));
    }
    const nodes = space.states.map(([name, initial, terminated], i) => svg("g", { class: "node" + (initial ? " first" : "") + (terminated ? " last" : "") + (way.includes(i) ? " way" : "") },
      svg("rect", { x: x(i) - box / 2, y: y(i) - 13, width: box, height: 26, rx: 6 }), svg("text", { x: x(i), y: y(i) + 5, class: "name" }, names[i]), svg("title", {}, name)));
    drawing.append(...nodes, ...texts);
    const holder = el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "State space" }, drawing);
    const show = (step) => {
      nodes.forEach((node, i) => node.classList.toggle("now", way[step] === i));
      if (way.length) reveal(holder, nodes[way[step]]);
    };
    const list = el("details", {}, el("summary", {}, "The same as a list"), el("ul", { class: "mono" }, ...[...edges.values()].map(({ from, to, labels }) =>
      el("li", {}, `${space.states[from][0]} — ${[...new Set(labels)].join(", ")} → ${space.states[to][0]}`))));
    return { node: el("section", { class: "panel" }, el("h3", {}, `All ${space.states.length} states` + (way.length ? ", the run marked" : "")), holder,
      el("p", { class: "faint" }, "Bold: initial. Double: terminated. Dashed steps are internal."), list), show };
  };

  const build = (claim, number) => {
    const parts = [], told = el("p", { class: "told", role: "status" }), run = claim.run && claim.run.steps.length ? claim.run : null;
    let touched = false;
    const walk = run ? page.stepper(run.steps.length, "Step of the run", (step) => {
      active = number;
      const one = step ? run.steps[step - 1] : null;
      told.replaceChildren(...(one ? [...one.who.map((who) => el("span", { class: "chip", vars: colour(who) }, run.actors[who])), " ", el("span", { class: "mono" }, one.label),
        one.changed ? el("span", { class: "faint mono" }, "  " + one.changed) : ""] : ["Before the first step."]));
      for (const part of parts) part.show(step);
      if (touched) page.remember({ claim: claim.number, step });
    }) : null;
    const go = (to) => { touched = true; if (walk) walk.go(to); };
    const chart = run ? chartView(run, go) : null, state = run ? stateView(run) : null, graph = claim.space ? graphView(claim.space, run) : null;
    parts.push(...[chart, state, graph].filter((part) => part));
    const node = el("article", { class: "finding", id: "claim-" + claim.number },
      el("p", { class: "lead" }, el("span", { class: "kind " + claim.badge }, claim.says + (claim.why.length ? ":" : "")), claim.why.length ? " " + claim.why.join("; ") + "." : ""),
      walk ? el("div", { class: "walk" }, walk.node, told) : null,
      el("div", { class: chart && (state || graph) ? "split model" : "" }, ...[chart ? el("div", {}, chart.node) : null, el("div", {}, ...[state, graph].filter((part) => part).map((part) => part.node))].filter((part) => part)),
      claim.numbers ? el("p", { class: "faint note" }, claim.numbers) : null);
    return { node, go, walk, start: (step) => { if (walk) walk.go(step); else for (const part of parts) part.show(0); }, count: run ? run.steps.length : 0 };
  };

  const wanted = page.asked(), failed = data.claims.findIndex((claim) => claim.badge === "fail");
  const opened = Math.max(0, failed >= 0 ? failed : data.claims.findIndex((claim) => claim.run));
  data.claims.forEach((claim, i) => {
    const body = el("div", {}), asked = wanted.claim !== undefined ? +wanted.claim === claim.number : i === opened;
    const box = el("details", { class: "test", open: asked },
      el("summary", {}, el("span", { class: "verdict " + claim.badge }, claim.badge), el("span", { class: "name mono" }, claim.text), el("span", { class: "faint" }, claim.says)), body);
    const open = () => {
      if (charts[i] || !box.open) return;
      charts[i] = build(claim, i);
      body.append(charts[i].node);
      charts[i].start(asked && wanted.step !== undefined ? +wanted.step : charts[i].count);
    };
    box.addEventListener("toggle", open);
    $("claims").append(box);
    open();
  });
  $("model").textContent = data.model.map((line, n) => String(n + 1).padStart(4) + "  " + line).join("\n");
  active = Math.max(0, wanted.claim !== undefined ? data.claims.findIndex((claim) => claim.number === +wanted.claim) : opened);
  const current = () => charts[active] || charts.find((one) => one);
  const by = (step) => () => { const one = current(); if (one && one.walk) one.go(one.walk.at() + step); };
  page.keys({ n: by(1), ArrowRight: by(1), p: by(-1), ArrowLeft: by(-1), Home: () => current() && current().go(0), End: () => current() && current().go(current().count) });
  window.addEventListener("beforeprint", () => document.querySelectorAll("details.test").forEach((box) => { box.open = true; }));
  page.ready();
})();
