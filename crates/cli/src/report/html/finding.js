// The page of tests: each finding is an interleaving to step through, beside the source and the shared memory.
(() => {
  const { data, $, el, svg, reveal } = page;
  const colour = (thread) => ({ "--thread": "var(--t" + (thread % 8) + ")" });
  const chip = (thread) => el("span", { class: "chip", vars: colour(thread) }, "T" + thread);
  const findings = [];
  let active = 0;

  // Words of C, C++ and Rust that a reader expects to stand out.
  const WORDS = new Set(("as async auto bool break case catch char class const constexpr continue crate default do double dyn else enum extern " +
    "false float fn for goto if impl in inline int let long loop match mod move mut namespace new nullptr private pub public ref return self short " +
    "signed sizeof static struct super switch template this throw trait true try typedef typename union unsafe unsigned use using void volatile " +
    "where while u8 u16 u32 u64 usize i8 i16 i32 i64 isize").split(" "));
  const PIECES = /(\/\/.*$|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?)|('(?:\\.|[^'\\])')|([A-Za-z_]\w*)|(\d[\w.]*)/g;
  // A line of code in coloured pieces; answers whether a comment goes on in the next one.
  const paint = (node, text, inComment) => {
    let from = 0;
    const add = (kind, piece) => node.append(kind ? el("span", { class: kind }, piece) : piece);
    if (inComment) {
      const end = text.indexOf("*/");
      from = end < 0 ? text.length : end + 2;
      add("c", text.slice(0, from));
      if (end < 0) return true;
    }
    let open = false;
    PIECES.lastIndex = from;
    for (let found; (found = PIECES.exec(text)); from = PIECES.lastIndex) {
      add(null, text.slice(from, found.index));
      const [piece, comment, string, letter, word, number] = found;
      open = comment !== undefined && comment.startsWith("/*") && !comment.endsWith("*/");
      add(comment ? "c" : string || letter ? "s" : word ? (WORDS.has(word) ? "k" : null) : number ? "s" : null, piece);
    }
    add(null, text.slice(from));
    return open;
  };

  // The source files of one finding, with where each thread is.
  const sourceView = (finding, jump) => {
    const files = [...new Set(finding.rows.filter((row) => row.source).map((row) => row.source[0]))];
    if (!files.length) return null;
    const touched = new Set(finding.rows.filter((row) => row.source).map((row) => row.source.join(":")));
    const name = el("span", { class: "mono" }), box = el("div", { class: "code", tabindex: 0, role: "region", "aria-label": "Source code", vars: { "--marks": Math.min(8, finding.threads.length) * 25 + 8 + "px" } });
    const tabs = el("div", { class: "tabs", role: "group", "aria-label": "Files", hidden: files.length < 2 });
    const bodies = new Map();
    const body = (file) => {
      const source = data.sources[file], lines = [];
      let comment = false;
      const rows = source.lines.map((text, i) => {
        const number = source.first + i, hit = touched.has(file + ":" + number);
        const near = [-3, -2, -1, 0, 1, 2, 3].some((by) => touched.has(file + ":" + (number + by)));
        const code = el("code"), marks = el("span", { class: "marks" });
        comment = paint(code, text, comment);
        const line = el("div", { class: "line" + (hit ? " hit" : "") + (near ? " near" : "") }, marks, el("span", { class: "n" }, number), code);
        if (hit) line.addEventListener("click", () => jump(file, number));
        lines[number] = { line, marks };
        return line;
      });
      return { node: el("div", { class: "lines" }, ...rows), lines };
    };
    let shown = null;
    const open = (file) => {
      if (!bodies.has(file)) bodies.set(file, body(file));
      if (shown !== file) {
        shown = file;
        box.replaceChildren(bodies.get(file).node);
        name.textContent = data.sources[file].path;
        tabs.childNodes.forEach((tab, i) => tab.setAttribute("aria-pressed", files[i] === file));
      }
      return bodies.get(file);
    };
    tabs.append(...files.map((file) => el("button", { type: "button", on: { click: () => open(file) } },
      data.sources[file].path.split("/").pop())));
    const show = (step) => {
      const row = step ? finding.rows[step - 1] : finding.rows.find((one) => one.source);
      const { lines } = open(row && row.source ? row.source[0] : shown === null ? files[0] : shown);
      for (const { line, marks } of Object.values(lines)) { line.classList.remove("now"); if (marks.firstChild) marks.replaceChildren(); }
      const where = new Map();
      finding.rows.slice(0, step).forEach((one) => { if (one.source) where.set(one.thread, one.source); });
      for (const [thread, [file, number]] of where) if (file === shown && lines[number]) lines[number].marks.append(chip(thread));
      const now = row && row.source && lines[row.source[1]];
      if (now) {
        if (step) { now.line.classList.add("now"); now.line.style.setProperty("--thread", colour(row.thread)["--thread"]); }
        reveal(box, now.line);
      }
    };
    return { node: el("section", { class: "panel" }, el("h3", {}, "Source"), tabs, el("p", { class: "path" }, name), box), show };
  };

  // Values of shared memory after each step.
  const memoryView = (finding) => {
    if (!finding.variables.length) return null;
    const heading = el("h3", {}), rows = finding.variables.map(([name]) => {
      const cells = [el("td", { class: "mono" }, name), el("td", { class: "mono" }), el("td", {})];
      return { cells, row: el("tr", {}, ...cells) };
    });
    const head = el("tr", {}, ...["what", "value", "last changed by"].map((text) => el("th", { scope: "col" }, text)));
    const show = (step) => {
      const values = finding.variables.map(([, value]) => ({ value, before: null, by: null }));
      finding.rows.slice(0, step).forEach((row, i) => (row.sets || []).forEach(([at, value]) => {
        values[at] = { value, before: i + 1 === step ? values[at].value : null, by: row.thread };
      }));
      heading.textContent = step ? "Shared memory after step " + step : "Shared memory before the first step";
      const uses = step ? finding.rows[step - 1].uses : undefined;
      rows.forEach(({ row, cells }, i) => {
        const { value, before, by } = values[i];
        row.className = before !== null ? "changed" : uses === i ? "used" : "";
        if (step) row.style.setProperty("--thread", colour(finding.rows[step - 1].thread)["--thread"]);
        cells[1].replaceChildren(...(before === null ? [value] : [el("span", { class: "was" }, before), " → ", el("strong", {}, value)]));
        cells[2].replaceChildren(by === null ? el("span", { class: "faint" }, "–") : chip(by));
      });
    };
    const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows.map(({ row }) => row)));
    return { node: el("section", { class: "panel" }, heading, el("div", { class: "scroll short" }, table)), show };
  };

  // Who waits for whom: threads on a circle, those that wait for each other next to each other.
  const waitView = (finding) => {
    if (!finding.waits.length) return null;
    const on = new Map(finding.waits.filter((wait) => wait.on !== undefined).map((wait) => [wait.thread, wait]));
    const cycle = [];
    for (const start of on.keys()) {
      const way = [];
      for (let at = start; at !== undefined && !way.includes(at); at = on.has(at) ? on.get(at).on : undefined) way.push(at);
      const last = on.get(way[way.length - 1]);
      if (last && way.includes(last.on)) { cycle.push(...way.slice(way.indexOf(last.on))); break; }
    }
    const nodes = [...new Set([...cycle, ...finding.waits.flatMap((wait) => (wait.on === undefined ? [wait.thread] : [wait.thread, wait.on]))])];
    const list = el("ul", {}, ...finding.waits.map((wait) => el("li", {}, wait.says)));
    const title = cycle.length ? "Who waits for whom: " + [...cycle, cycle[0]].map((thread) => "T" + thread).join(" → ") : "Who waits for what";
    const section = el("section", { class: "panel" }, el("h3", {}, title));
    if (on.size && nodes.length <= 12) section.append(waitGraph(nodes, [...on.values()], cycle));
    section.append(list);
    return section;
  };
  const waitGraph = (nodes, waits, cycle) => {
    const wide = 460, radius = nodes.length < 3 ? 60 : 84, high = 2 * radius + 70, cx = wide / 2, cy = high / 2;
    const place = new Map(nodes.map((thread, i) => {
      const angle = nodes.length === 2 ? Math.PI * (1 - i) : (2 * Math.PI * i) / nodes.length - Math.PI / 2;
      return [thread, [cx + Math.cos(angle) * radius * 1.5, cy + Math.sin(angle) * radius]];
    }));
    const drawing = svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "graph", role: "img", "aria-label": "Threads and whom they wait for, as told below" },
      svg("defs", {}, ...["bad", "faint"].map((kind) => svg("marker", { id: "head-" + kind, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
        svg("path", { d: "M0 0 8 4 0 8z", class: "head " + kind })))));
    const labels = [];
    for (const wait of waits) {
      const [x1, y1] = place.get(wait.thread), [x2, y2] = place.get(wait.on);
      const length = Math.hypot(x2 - x1, y2 - y1) || 1, ux = (x2 - x1) / length, uy = (y2 - y1) / length, bend = nodes.length === 2 ? 34 : 18;
      const mx = (x1 + x2) / 2 + uy * bend, my = (y1 + y2) / 2 - ux * bend, kind = cycle.includes(wait.thread) ? "bad" : "faint";
      const cut = (x, y) => { const d = Math.hypot(mx - x, my - y) || 1; return [x + ((mx - x) / d) * 23, y + ((my - y) / d) * 23]; };
      const [sx, sy] = cut(x1, y1), [ex, ey] = cut(x2, y2);
      drawing.append(svg("path", { d: `M${sx} ${sy}Q${mx} ${my} ${ex} ${ey}`, class: "edge " + kind, "marker-end": `url(#head-${kind})` }));
      const lx = (sx + 2 * mx + ex) / 4, ly = (sy + 2 * my + ey) / 4;
      labels.push(svg("text", { x: lx, y: ly + 4, class: "label" }, wait.what.length > 26 ? wait.what.slice(0, 25) + "…" : wait.what));
    }
    for (const [thread, [x, y]] of place) {
      const dot = svg("circle", { cx: x, cy: y, r: 19, vars: colour(thread) }), text = svg("text", { x, y: y + 5, class: "name" }, "T" + thread);
      drawing.append(dot, text);
    }
    drawing.append(...labels);
    return drawing;
  };

  // The operations of an object as bars over the rows, one lane a thread.
  const laneView = (finding, go) => {
    if (!finding.operations.length) return null;
    const count = finding.rows.length, cursor = el("div", { class: "cursor" });
    const bars = finding.operations.map((one) => {
      const end = one.to === null ? count : one.to + 1;
      return { one, node: el("button", { type: "button", class: "op" + (one.to === null ? " pending" : ""), title: one.label + (one.to === null ? " never returns" : ""),
        vars: { left: (100 * one.from) / count + "%", width: `calc(${(100 * (end - one.from)) / count}% - 3px)`, ...colour(one.thread) }, on: { click: () => go(one.from + 1) } }, one.label) };
    });
    const threads = [...new Set(finding.operations.map((one) => one.thread))].sort((a, b) => a - b);
    const lanes = threads.map((thread) => el("div", { class: "lane" }, chip(thread),
      el("div", { class: "track" }, ...bars.filter((bar) => bar.one.thread === thread).map((bar) => bar.node))));
    const show = (step) => {
      cursor.style.setProperty("--at", step / count);
      for (const { one, node } of bars) {
        node.classList.toggle("open", step > one.from && (one.to === null || step <= one.to));
        node.classList.toggle("later", step <= one.from);
      }
    };
    return { node: el("section", { class: "panel" }, el("h3", {}, "The history"), el("div", { class: "lanebox" }, ...lanes, cursor)), show };
  };

  const objectView = ({ object }) => {
    const [around, ...columns] = object.results, most = Math.max(0, ...columns.map((column) => column.length));
    const cell = (text) => el("td", { class: "mono" }, text || "");
    const head = el("tr", {}, ...columns.map((_, i) => el("th", { scope: "col" }, chip(i + 1))));
    const rows = Array.from({ length: most }, (_, i) => el("tr", {}, ...columns.map((column) => cell(column[i]))));
    return el("section", { class: "panel" }, el("h3", {}, "Operations and results"),
      el("div", { class: "scroll" }, el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, ...rows))),
      around && around.length ? el("p", {}, "Before and after: ", el("span", { class: "mono" }, around.join(", "))) : null,
      ...object.why.map((text) => el("p", {}, text)),
      object.closest.length ? el("ul", { class: "mono" }, ...object.closest.map((text) => el("li", {}, text))) : null);
  };

  // The interleaving itself.
  const tableView = (finding, go) => {
    const at = new Map(finding.threads.map((thread, i) => [thread, i]));
    const head = el("tr", {}, el("th", { scope: "col" }, "#"), ...finding.threads.map((thread) => el("th", { scope: "col" }, chip(thread))), el("th", { scope: "col" }, "line"));
    const rows = finding.rows.map((row, i) => {
      const cells = finding.threads.map((thread) => el("td", { class: thread === row.thread ? "does" : "idle" }));
      cells[at.get(row.thread)].append(page.tied(row.text));
      const number = el("button", { type: "button", class: "number", "aria-label": "To step " + (i + 1) }, row.ends ? "✗" : i + 1);
      return el("tr", { class: row.ends ? "end" : "", vars: colour(row.thread), on: { click: () => go(i + 1) } },
        el("td", {}, number), ...cells, el("td", { class: "at" }, row.place));
    });
    const box = el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Interleaving" },
      el("table", { class: "steps" }, el("thead", {}, head), el("tbody", {}, ...rows)));
    const show = (step) => rows.forEach((row, i) => {
      row.classList.toggle("later", i >= step);
      if (i === step - 1) { row.setAttribute("aria-current", "step"); reveal(box, row); } else row.removeAttribute("aria-current");
    });
    const left = finding.left_out ? el("p", { class: "faint" }, finding.left_out.toLocaleString("en") + " steps before these are left out.") : null;
    return { node: el("section", { class: "panel" }, el("h3", {}, "Interleaving, top to bottom in time"), left, box), show };
  };

  const build = (finding, number) => {
    const parts = [], told = el("p", { class: "told", role: "status" });
    const walk = page.stepper(finding.rows.length, "Step of the interleaving", (step) => {
      active = number;
      const row = step ? finding.rows[step - 1] : null;
      told.replaceChildren(...(row ? [chip(row.thread), " ", el("span", { class: "mono" }, row.text), row.place ? " at " + row.place : ""] : ["Before the first step."]));
      for (const part of parts) part.show(step);
      if (touched) page.remember({ finding: number + 1, step });
    });
    let touched = false;
    const go = (to) => { touched = true; walk.go(to); };
    const jump = (file, line) => {
      const here = (row) => row.source && row.source[0] === file && row.source[1] === line, n = finding.rows.length;
      for (let by = 1; by <= n; by++) { const i = (walk.at() - 1 + by + n) % n; if (here(finding.rows[i])) { go(i + 1); return; } }
    };
    const views = [tableView(finding, go), laneView(finding, go), sourceView(finding, jump), memoryView(finding)];
    const [table, lanes, source, memory] = views;
    parts.push(...views.filter((view) => view));
    const nodes = (...of) => of.filter((view) => view).map((view) => view.node || view);
    const object = finding.object ? objectView(finding) : null;
    const node = el("article", { class: "finding", id: "finding-" + (number + 1), "aria-label": finding.kind },
      el("p", { class: "lead" }, el("span", { class: "kind" }, finding.kind.replaceAll("-", " ")), " ", ...page.prose(finding.sentence)),
      object,
      finding.rows.length ? el("div", { class: "walk" }, walk.node, told) : null,
      el("div", { class: "split even" }, el("div", {}, ...nodes(finding.rows.length ? lanes : null, finding.rows.length ? table : null, waitView(finding))),
        el("div", {}, ...nodes(source, memory))),
      finding.unsaved ? el("p", {}, finding.unsaved) : el("p", {}, "Run it again: ", el("code", { class: "copy" }, finding.replay)),
      finding.object ? el("details", {}, el("summary", {}, "As a test of its own"), el("pre", {}, finding.object.regression), el("p", {}, "Only this matrix: ", el("code", { class: "copy" }, finding.object.matrix))) : null);
    return { node, go, walk, start: (step) => walk.go(step) };
  };

  // The list of tests: those that failed first in what is open, the rest closed until asked for.
  const wanted = page.asked();
  let number = 0;
  const firstFail = data.tests.findIndex((test) => test.findings.length);
  data.tests.forEach((test, i) => {
    const body = el("div", {}), own = test.findings.map((finding) => ({ finding, number: number++ }));
    const has = own.some((one) => one.number + 1 === +wanted.finding);
    const box = el("details", { class: "test", open: wanted.finding ? has : i === Math.max(0, firstFail) || data.tests.length === 1 },
      el("summary", {}, el("span", { class: "verdict " + test.badge }, test.badge), el("span", { class: "name" }, test.name), el("span", { class: "faint" }, test.says)), body);
    let built = false;
    const open = () => {
      if (built || !box.open) return;
      built = true;
      for (const one of own) {
        findings[one.number] = build(one.finding, one.number);
        body.append(findings[one.number].node);
      }
      body.append(...test.notes.map((text) => el("p", { class: "faint note" }, text)));
      // The last step is the one that people ask about; a page can be asked for another.
      for (const one of own) {
        const here = wanted.step !== undefined && one.number + 1 === (+wanted.finding || 1);
        findings[one.number].start(here ? +wanted.step : one.finding.rows.length);
      }
    };
    box.addEventListener("toggle", open);
    $("tests").append(box);
    open();
  });
  active = (+wanted.finding || 1) - 1;
  const current = () => {
    const inside = document.activeElement && document.activeElement.closest(".finding");
    const at = inside ? +inside.id.slice(8) - 1 : active;
    return findings[at] || findings.find((one) => one);
  };
  const by = (step) => () => { const one = current(); if (one) one.go(one.walk.at() + step); };
  const to = (where) => () => { const one = current(); if (one) one.go(where(one)); };
  page.keys({ n: by(1), ArrowRight: by(1), p: by(-1), ArrowLeft: by(-1), Home: to(() => 0), End: to((one) => one.walk.count) });
  window.addEventListener("hashchange", () => {
    const now = page.asked(), one = findings[(+now.finding || 1) - 1];
    if (one && now.step !== undefined) one.go(+now.step);
  });
  window.addEventListener("beforeprint", () => document.querySelectorAll("details.test").forEach((box) => { box.open = true; }));
  page.ready();
})();
