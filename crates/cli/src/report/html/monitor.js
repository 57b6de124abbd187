// The page of a monitor: each violation with its operations as bars, in the order of events.
(() => {
  const { data, $, el } = page;
  const build = (violation) => {
    // Only the events that are told matter: between them may be millions.
    const events = [...new Set(violation.operations.flatMap((one) => (one.ret === null ? [one.call] : [one.call, one.ret])).concat(violation.event))].sort((a, b) => a - b);
    const place = (event) => events.indexOf(event), wide = events.length + 1;
    const threads = [...new Set(violation.operations.map((one) => one.thread))];
    const colour = (thread) => ({ "--thread": "var(--t" + ((threads.indexOf(thread) + 1) % 8) + ")" });
    const bar = (one) => {
      const from = place(one.call), to = one.ret === null ? wide - 0.5 : place(one.ret);
      return el("div", { class: "op" + (one.ret === null ? " pending" : ""), title: one.label,
        vars: { left: (100 * (from + 0.5)) / wide + "%", width: (100 * Math.max(0.35, to - from)) / wide + "%", ...colour(one.thread) } }, one.label);
    };
    const lanes = threads.map((thread) => el("div", { class: "lane" }, el("span", { class: "chip named", title: thread, vars: colour(thread) }, thread),
      el("div", { class: "track" }, ...violation.operations.filter((one) => one.thread === thread).map(bar))));
    const head = el("tr", {}, ...["thread", "operation", "called at event", "returned at event"].map((text) => el("th", { scope: "col" }, text)));
    const rows = violation.operations.map((one) => el("tr", {}, ...[one.thread, one.label, one.call, one.ret === null ? "not yet" : one.ret].map((text) => el("td", { class: "mono" }, text))));
    return el("div", {}, el("p", { class: "lead" }, el("span", { class: "kind" }, violation.rule), " " + violation.says + (violation.place ? ", " + violation.place : "") + "."),
      el("section", { class: "panel" }, el("div", { class: "lanebox" }, ...lanes)),
      el("div", { class: "scroll note" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))));
  };
  data.violations.forEach((violation, i) => {
    const body = el("div", {}), box = el("details", { class: "test", open: i < 3 },
      el("summary", {}, el("span", { class: "verdict fail" }, "event " + violation.event), el("span", { class: "name" }, violation.rule), el("span", { class: "faint" }, violation.says)), body);
    const open = () => { if (box.open && !body.firstChild) body.append(build(violation)); };
    box.addEventListener("toggle", open);
    $("violations").append(box);
    open();
  });
  if (data.left_out) $("violations").append(el("p", { class: "faint" }, data.left_out.toLocaleString("en") + " more violations are left out."));
  page.ready();
})();
