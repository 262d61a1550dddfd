"use strict";
// The page of a test run. Its data stands in three blocks: run-data and
// summary-data are JSON; case-data has a line for each attempt at a case: JSON
// of what the list shows, a tab, and JSON of the rest, which is read when the
// case is opened, searched or printed.
//
// What is looked at is kept in the address, after the "#": status, tag, q, sort,
// case and theme. Texts reach the page through textContent alone.
(() => {
  const $ = (id) => document.getElementById(id);
  const data = (id) => JSON.parse($(id).textContent);

  const run = data("run-data");
  const summary = data("summary-data");
  const lines = $("case-data").textContent.split("\n").filter(Boolean);
  const cases = lines.map((line, index) => {
    const row = JSON.parse(line.slice(0, line.indexOf("\t")));
    row.index = index;
    return row;
  });
  const detailOf = (row) => {
    const line = lines[row.index];
    return JSON.parse(line.slice(line.indexOf("\t") + 1));
  };

  // A case that runs more than once is there as often.
  const unit = cases.some((row) => row.repeats) ? "attempt" : "case";
  const labels = { failed: "Failed", passed: "Passed", unchecked: "Unchecked", not_run: "Not run" };
  const marks = { failed: "✕", passed: "✓", unchecked: "", not_run: "✕" };

  // Making elements

  // el returns an element. Properties that begin with "on" listen; the others
  // are attributes, and those that are null, undefined or false are left out.
  function el(name, props, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(props || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
    return node;
  }
  const mark = (status) => el("i", { class: "mark " + status, "aria-label": labels[status] }, marks[status]);
  const pill = (status, text) => el("span", { class: "pill " + status }, text || labels[status]);

  // bar shows a share of one, and a tick where it should reach.
  function bar(share, tick) {
    const fill = el("i");
    fill.style.width = 100 * Math.min(1, Math.max(0, share)) + "%";
    const node = el("div", { class: "bar" }, fill);
    if (tick !== undefined) {
      const at = el("b", { title: "threshold " + tick.toFixed(2) });
      at.style.left = 100 * Math.min(1, Math.max(0, tick)) + "%";
      node.append(at);
    }
    return node;
  }

  // Numbers for people

  const whole = new Intl.NumberFormat("en");
  const count = (n, word) => whole.format(n) + " " + word + (n === 1 ? "" : "s");
  function took(ms) {
    if (ms < 0.1) return ms > 0 ? "< 0.1 ms" : "0 ms";
    if (ms < 0.95) return ms.toFixed(1) + " ms";
    if (ms < 1000) return Math.round(ms) + " ms";
    if (ms < 60000) return (ms / 1000).toFixed(2) + " s";
    const s = Math.round(ms / 1000);
    return Math.floor(s / 60) + " min " + (s % 60) + " s";
  }
  const dollars = (n) => "$" + n.toFixed(n < 1 ? 4 : 2);
  function bytes(n) {
    if (n < 1024) return count(n, "byte");
    return n < 1 << 20 ? (n / 1024).toFixed(1) + " KiB" : (n / (1 << 20)).toFixed(1) + " MiB";
  }
  const attempt = (row) => (row.repeats ? " (" + row.attempt + " of " + row.repeats + ")" : "");

  // What is looked at

  const state = { status: "", tag: "", q: "", sort: "", case: -1, theme: "" };
  let shown = []; // the rows that the filters let through, in order
  let searchable = null; // of each case, all its texts in lower case; made by the first search

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const key of ["status", "tag", "q", "sort", "theme"]) state[key] = given.get(key) || "";
    const number = parseInt(given.get("case"), 10);
    state.case = number >= 1 && number <= cases.length ? number - 1 : -1;
  }
  function address() {
    const next = new URLSearchParams();
    for (const key of ["status", "tag", "q", "sort", "theme"]) if (state[key]) next.set(key, state[key]);
    if (state.case >= 0) next.set("case", state.case + 1);
    return "#" + next;
  }
  // keep puts the state into the address; a step of its own is one that "back"
  // returns from.
  function keep(step) {
    if (address() === (location.hash || "#")) return;
    if (step) history.pushState(null, "", address());
    else history.replaceState(null, "", address());
  }

  function texts(value, into) {
    if (typeof value === "string") into.push(value);
    else if (value && typeof value === "object") for (const item of Object.values(value)) texts(item, into);
    return into;
  }
  function search(words) {
    searchable ||= cases.map((row) => texts(detailOf(row), [row.title, ...(row.tags || [])]).join("\n").toLowerCase());
    return (row) => words.every((word) => searchable[row.index].includes(word));
  }

  const orders = {
    failed: (a, b) => (b.status === "failed") - (a.status === "failed"),
    slow: (a, b) => b.ms - a.ms,
    cost: (a, b) => (b.cost || 0) - (a.cost || 0),
  };

  function select() {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? search(words) : () => true;
    shown = cases.filter((row) =>
      (!state.status || row.status === state.status) &&
      (!state.tag || (row.tags || []).includes(state.tag)) &&
      found(row));
    if (orders[state.sort]) shown.sort((a, b) => orders[state.sort](a, b) || a.index - b.index);
  }

  // The head and the summary, which stay as they are

  function fillSummary() {
    const started = new Date(run.started);
    $("meta").append(run.path + " · ", el("time", { datetime: run.started }, started.toLocaleString()),
      " · HoloDeck " + run.version, ...run.environment.map(([key, value]) => " · " + key + ": " + value));

    const checked = summary.passed + summary.failed;
    const status = summary.failed || summary.left ? "failed" : checked ? "passed" : "unchecked";
    $("rate").className = "rate " + status;
    if (checked) $("rate").append(summary.rate, el("small", null, "%"));
    else $("rate").append("–");
    $("counts").append(checked ? whole.format(summary.passed) + " of " + count(checked, "case") + " passed" : "Nothing was checked");
    if (checked) $("interval").append("between " + summary.low + "% and " + summary.high + "% (95% confidence)");

    const facts = [];
    const fact = (name, value, kind) => facts.push(el("div", null, el("dt", null, name), el("dd", { class: kind }, value)));
    if (summary.failed) fact("Failed", whole.format(summary.failed), "fail");
    if (summary.unchecked) fact("Unchecked", whole.format(summary.unchecked));
    if (summary.left) fact("Not finished", whole.format(summary.left) + " of " + whole.format(summary.total), "fail");
    if (summary.stopped) fact("Stopped", summary.stopped);
    fact("Duration", took(summary.ms));
    if (summary.prompt + summary.completion) fact("Tokens", whole.format(summary.prompt) + " in, " + whole.format(summary.completion) + " out");
    if (summary.cost) fact("Cost", dollars(summary.cost));
    if (summary.repeats) fact("Repeated", summary.repeats);
    for (const note of summary.notes || []) fact("Note", note);
    $("facts").append(...facts);
    fillMetrics();
    fillStrip();
  }

  function fillMetrics() {
    for (const m of summary.metrics) {
      const notes = [];
      if (m.attempts) notes.push("mean of " + count(m.attempts, unit));
      if (m.skipped) notes.push("skipped " + whole.format(m.skipped) + "×" + (m.why ? ": " + m.why : ""));
      $("metrics").append(el("div", { class: "metric" },
        el("h2", null, el("span", { title: m.name }, m.name), el("span", null, m.attempts ? m.mean.toFixed(2) : "–")),
        bar(m.attempts ? m.mean : 0),
        el("p", { class: "meta" }, notes.join("; "))));
    }
    $("metrics").hidden = summary.metrics.length === 0;
  }

  // The strip has a sign for each case, or for as many cases as have room for
  // one, coloured by how many of them failed. A click opens the worst of them.
  const stripLength = 160;
  let stripStep = 1;
  function fillStrip() {
    stripStep = Math.ceil(cases.length / stripLength);
    const worst = { failed: 2, unchecked: 1, passed: 0 };
    for (let i = 0; i < cases.length; i += stripStep) {
      const some = cases.slice(i, i + stripStep);
      const row = some.reduce((a, b) => (worst[b.status] > worst[a.status] ? b : a));
      const sign = el("button", {
        type: "button", tabindex: "-1", title: labels[row.status] + ": " + row.title + attempt(row),
        onclick: () => open(row.index, true),
      });
      const of = (status) => some.filter((other) => other.status === status).length;
      sign.style.background = layers(of("failed") / some.length, of("unchecked") / some.length);
      $("strip").append(sign);
    }
    $("strip").classList.toggle("dense", cases.length > stripLength / 2);
  }
  // layers colours from below: what failed, what was not checked, what passed. A
  // single failure among many can still be seen.
  function layers(failed, unchecked) {
    const low = failed ? Math.max(failed, 0.12) : 0;
    const high = Math.min(1, low + unchecked);
    return `linear-gradient(to top, var(--fail-fill) ${100 * low}%, var(--none-fill) ${100 * low}% ${100 * high}%, var(--pass-fill) ${100 * high}%)`;
  }
  function markStrip() {
    const here = state.case < 0 ? -1 : Math.floor(state.case / stripStep);
    $("strip").querySelector(".here")?.classList.remove("here");
    $("strip").children[here]?.classList.add("here");
  }

  // The filters

  function fillFilters() {
    const of = (status) => cases.filter((row) => row.status === status).length;
    for (const status of ["", "failed", "passed", "unchecked"]) {
      const n = status ? of(status) : cases.length;
      if (status && !n) continue;
      $("status").append(el("button", {
        type: "button", role: "radio", class: status, "data-status": status,
        onclick: () => { state.status = status; update(); },
      }, labels[status] || "All", el("b", null, whole.format(n))));
    }
    const tags = [...new Set(cases.flatMap((row) => row.tags || []))].sort();
    if (tags.length) {
      $("tag").append(el("option", { value: "" }, "All tags"), ...tags.map((tag) => el("option", { value: tag }, tag)));
      $("tag").hidden = false;
    }
    if (!cases.some((row) => row.cost)) $("sort").querySelector('[value="cost"]').remove();
    $("tag").onchange = () => { state.tag = $("tag").value; update(); };
    $("sort").onchange = () => { state.sort = $("sort").value; update(); };
    let wait;
    $("search").oninput = () => {
      clearTimeout(wait);
      wait = setTimeout(() => { state.q = $("search").value.trim(); update(); }, 120);
    };
  }
  function showFilters() {
    for (const button of $("status").children) button.setAttribute("aria-checked", button.dataset.status === state.status);
    $("tag").value = state.tag;
    $("sort").value = state.sort;
    if (document.activeElement !== $("search")) $("search").value = state.q;
    $("found").textContent = (shown.length < cases.length ? whole.format(shown.length) + " of " : "") + count(cases.length, unit);
  }

  // The list, of which only what is in view exists

  let rowHeight = 56;
  const rowID = (row) => "row-" + row.index;
  function drawRows() {
    const spacer = $("spacer");
    const box = spacer.getBoundingClientRect();
    const pane = $("rows").getBoundingClientRect();
    const top = Math.max(0, pane.top);
    const bottom = Math.min(innerHeight, pane.bottom);
    const first = Math.max(0, Math.floor((top - box.top) / rowHeight) - 4);
    const last = Math.min(shown.length, Math.ceil((bottom - box.top) / rowHeight) + 4);
    const nodes = [];
    for (let i = first; i < last; i++) nodes.push(rowNode(shown[i], i));
    if (!shown.length) nodes.push(el("p", { class: "empty" }, cases.length ? "No case fits." : "No case finished."));
    spacer.replaceChildren(...nodes);
  }
  function rowNode(row, place) {
    const facts = [];
    if (row.tokens) facts.push(count(row.tokens, "token"));
    if (row.cost) facts.push(dollars(row.cost));
    if (row.tags) facts.push(row.tags.join(", "));
    const node = el("div", {
      class: "row " + row.status, role: "option", id: rowID(row), "aria-selected": String(row.index === state.case),
      "aria-setsize": shown.length, "aria-posinset": place + 1, onclick: () => open(row.index, true),
    },
    mark(row.status),
    el("p", { class: "name" }, el("span", { title: row.title }, row.title + attempt(row)), el("time", null, took(row.ms))),
    el("p", { class: "why", title: row.why }, row.why || facts.join(" · ") || labels[row.status]));
    node.style.top = place * rowHeight + "px";
    return node;
  }
  function sizeRows() {
    rowHeight = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || rowHeight;
    $("spacer").style.height = Math.max(1, shown.length) * rowHeight + "px";
  }
  // reveal scrolls the list, where it scrolls by itself, to the open case.
  function reveal() {
    const place = shown.findIndex((row) => row.index === state.case);
    const pane = $("rows");
    if (place < 0 || pane.scrollHeight <= pane.clientHeight) return;
    const top = place * rowHeight;
    if (top < pane.scrollTop) pane.scrollTop = top;
    else if (top + rowHeight > pane.scrollTop + pane.clientHeight) pane.scrollTop = top + rowHeight - pane.clientHeight;
  }

  // One case

  const textBlock = (text, empty) => (text.trim() ? el("div", { class: "text" }, text) : el("div", { class: "text nothing" }, empty));
  const said = (who, role, text, empty) => el("div", { class: "said " + role }, el("h4", null, who), textBlock(text, empty));
  const part = (title, text, kind) => text && el("div", { class: "part" }, el("h4", null, title), el("pre", { class: kind }, text));

  const paperText = 1200; // characters of a result on paper
  function callNode(call, onPaper) {
    let result = call.result || "(empty)";
    if (onPaper && result.length > paperText) result = result.slice(0, paperText) + " …";
    return el("details", { class: "call" + (call.error ? " failed" : ""), open: onPaper },
      el("summary", null, el("b", null, call.name), el("code", null, (call.args || "").replace(/\s+/g, " ")),
        call.error && pill("failed", "failed"), el("time", null, took(call.ms))),
      part("Arguments", call.args),
      call.error ? part("Error", call.error, "error") : part("Result", result));
  }
  function checkNode(status, title, kind, score, reason) {
    return el("div", { class: "check " + status }, mark(status), el("span", { class: "title" }, title, kind && el("small", null, kind)),
      el("span", { class: "score" }, score), el("span", { class: "reason" }, reason || ""));
  }
  function metricNode(m) {
    const status = m.failed ? "failed" : m.counts && m.status !== "not applicable" ? "passed" : "unchecked";
    const scored = m.score !== undefined && m.status !== "error" && m.status !== "skipped" && m.status !== "not applicable";
    const score = scored ? [m.score.toFixed(2), bar(m.score, m.threshold)] : [m.status];
    return checkNode(status, m.name, m.kind, score, m.reason);
  }
  function turnNode(turn, title, onPaper) {
    const nodes = [];
    if (title) nodes.push(el("h3", null, title, turn.status !== "passed" && pill(turn.status), el("span", null, took(turn.ms))));
    nodes.push(said("User", "user", turn.input, "(nothing)"));
    for (const file of turn.files || []) {
      nodes.push(el("p", { class: "meta" }, "File " + file.name + " · " + file.type + " · " + bytes(file.bytes), file.error && el("span", { class: "pill failed" }, file.error)));
    }
    for (const text of turn.context || []) nodes.push(part("Context", text));
    if (turn.calls) nodes.push(el("div", { class: "calls" }, turn.calls.map((call) => callNode(call, onPaper))));
    if (turn.status !== "not_run" || turn.answer) nodes.push(said("Agent", "agent", turn.answer, "(no answer)"));
    if (turn.structured && turn.structured !== turn.answer.trim()) nodes.push(part("Structured answer", turn.structured));
    if (turn.truth !== undefined) nodes.push(el("div", { class: "truth part" }, el("h4", null, "Ground truth"), el("div", { class: "text" }, turn.truth)));
    if (turn.stop) nodes.push(el("p", { class: "meta" }, "The answer ended with: " + turn.stop));
    const checks = [
      ...(turn.errors || []).map((e) => checkNode("failed", "error", "", "", e)),
      ...(turn.checks || []).map((c) => checkNode(c.passed ? "passed" : "failed", c.title, "", c.passed ? "met" : "not met", c.reason)),
      ...(turn.metrics || []).map(metricNode),
    ];
    if (checks.length) nodes.push(el("div", { class: "checks" }, checks));
    return el("section", { class: "turn" }, nodes);
  }
  // caseNodes returns what is shown of a case; onPaper, with everything unfolded.
  function caseNodes(row, onPaper) {
    const c = detailOf(row);
    const facts = [took(row.ms)];
    if (row.tokens) facts.push(count(row.tokens, "token"));
    if (row.cost) facts.push(dollars(row.cost));
    if (row.repeats) facts.push("attempt " + row.attempt + " of " + row.repeats + (c.rule ? ", pass rule: " + c.rule : ""));
    if (c.id) facts.push(c.id);
    if (c.where) facts.push(c.where);
    const many = c.turns.length > 1;
    const reasons = c.turns.flatMap((turn, n) => (turn.why || []).map((why) => (many ? "turn " + (n + 1) + ": " : "") + why));
    return [
      el("header", null,
        el("h2", { tabindex: "-1" }, row.title + attempt(row)),
        !onPaper && el("nav", { "aria-label": "Other cases" },
          el("button", { type: "button", class: "back", onclick: close }, "← All cases"),
          el("button", { type: "button", title: "Previous (k)", onclick: () => move(-1), disabled: !neighbour(-1) }, "↑"),
          el("button", { type: "button", title: "Next (j)", onclick: () => move(1), disabled: !neighbour(1) }, "↓")),
        el("div", { class: "meta" }, pill(row.status), ...facts.map((fact) => el("span", null, fact)),
          row.tags && el("span", { class: "tags" }, row.tags.map((tag) => el("span", { class: "pill" }, tag))))),
      row.status === "failed" && reasons.length > 0 && el("div", { class: "box" }, el("h3", null, "Why it failed"), el("ul", null, reasons.map((why) => el("li", null, why)))),
      ...c.turns.map((turn, n) => turnNode(turn, c.conversation ? "Turn " + (n + 1) + " of " + c.turns.length : "", onPaper)),
    ].filter(Boolean);
  }

  const narrow = matchMedia("(max-width: 820px)");
  function drawCase() {
    const row = cases[state.case];
    $("explorer").classList.toggle("one", Boolean(row));
    if (row) $("detail").replaceChildren(...caseNodes(row, false));
    else $("detail").replaceChildren(el("p", { class: "empty" }, "Choose a case to see what was said and done in it."));
    markStrip();
    const here = shown.some((other) => other === row);
    if (here) $("rows").setAttribute("aria-activedescendant", rowID(row));
    else $("rows").removeAttribute("aria-activedescendant");
  }

  function open(index, step) {
    state.case = index;
    keep(step && narrow.matches);
    drawCase();
    reveal();
    drawRows();
    const top = $("explorer").getBoundingClientRect().top;
    if (top < 0 || narrow.matches) scrollBy(0, top - 12);
  }
  function close() {
    state.case = -1;
    keep(true);
    draw();
  }
  function neighbour(by, wanted) {
    const place = shown.findIndex((row) => row.index === state.case);
    for (let i = place < 0 ? (by > 0 ? 0 : shown.length - 1) : place + by; i >= 0 && i < shown.length; i += by) {
      if (!wanted || wanted(shown[i])) return shown[i];
    }
    return null;
  }
  function move(by, wanted) {
    const row = neighbour(by, wanted);
    if (row) open(row.index, false);
  }

  // Light and dark

  const themes = { "": "Auto", light: "Light", dark: "Dark" };
  function showTheme() {
    if (!(state.theme in themes)) state.theme = "";
    if (state.theme) document.documentElement.dataset.theme = state.theme;
    else delete document.documentElement.dataset.theme;
    $("theme").textContent = "Theme: " + themes[state.theme];
  }
  function nextTheme() {
    const names = Object.keys(themes);
    state.theme = names[(names.indexOf(state.theme) + 1) % names.length];
    keep(false);
    showTheme();
  }

  // On paper: every case that is shown, as far as paper is patient

  const paperLength = 200;
  addEventListener("beforeprint", () => {
    const nodes = shown.slice(0, paperLength).map((row) => el("article", { class: "detail" }, caseNodes(row, true)));
    if (shown.length > paperLength) nodes.push(el("p", { class: "meta" }, "The first " + paperLength + " of " + count(shown.length, unit) + "."));
    $("paper").replaceChildren(...nodes);
  });
  addEventListener("afterprint", () => $("paper").replaceChildren());

  // All together

  function draw() {
    select();
    showFilters();
    sizeRows();
    drawCase();
    drawRows();
    showTheme();
  }
  // update follows a change of the filters.
  function update() {
    keep(false);
    select();
    if (!narrow.matches && !shown.some((row) => row.index === state.case)) {
      state.case = shown.length ? shown[0].index : -1;
      keep(false);
    }
    $("rows").scrollTop = 0;
    draw();
    reveal();
    drawRows();
  }

  let drawing = false;
  function drawRowsSoon() {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => { drawing = false; drawRows(); });
  }
  addEventListener("scroll", drawRowsSoon, { capture: true, passive: true });
  addEventListener("resize", drawRowsSoon);
  addEventListener("hashchange", () => { readAddress(); draw(); reveal(); drawRows(); });
  addEventListener("popstate", () => { readAddress(); draw(); });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === $("search")) {
      if (event.key === "Escape") { $("search").value = state.q = ""; $("search").blur(); update(); }
      return;
    }
    if (event.target.tagName === "SELECT") return;
    const inList = event.target === $("rows") || event.target === document.body;
    const failed = (row) => row.status === "failed";
    const keys = {
      j: () => move(1), k: () => move(-1), n: () => move(1, failed), p: () => move(-1, failed), t: nextTheme,
      "/": () => $("search").focus(), Escape: () => { if (narrow.matches && state.case >= 0) close(); },
    };
    if (inList) Object.assign(keys, { ArrowDown: keys.j, ArrowUp: keys.k });
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  $("print").onclick = () => print();
  $("theme").onclick = nextTheme;

  readAddress();
  fillSummary();
  fillFilters();
  select();
  // What one wants to see first: a failure.
  if (state.case < 0 && !narrow.matches && shown.length) {
    state.case = (shown.find((row) => row.status === "failed") || shown[0]).index;
  }
  draw();
  reveal();
  drawRows();
  // How long all this took from the first byte on, in milliseconds.
  document.documentElement.dataset.opened = Math.round(performance.now());
})();
