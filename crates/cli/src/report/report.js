"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
};
const STEP = 100, MATRIX = 400;
const AGREE = "agree", UNASKED = "unsupported";
let shown = [], drawn = 0, byRule = false, rule = "";

// The text in which the search looks, made when it is first needed.
const searched = (c) => {
  if (c.text === undefined) {
    const parts = [c.id, c.question, c.why || "", ...c.rules.map((r) => data.rules[r][0])];
    for (const r of c.runs) if (r) parts.push(r.verdict, r.class || "", r.given || "", r.message || "", ...(r.notes || []));
    c.text = parts.concat(c.programs || []).join("\n").toLowerCase();
  }
  return c.text;
};
const wanted = () => ({
  words: at("text").value.toLowerCase().split(/\s+/).filter(Boolean),
  outcome: at("outcome").value, chapter: at("chapter").value, class: at("class").value, run: at("run").value, rule,
});
const fitsRun = (r, w) => {
  if (!r) return false;
  const outcome = !w.outcome || w.outcome === r.verdict || (w.outcome === "unexpected" && r.unexpected)
    || (w.outcome === "findings" && r.verdict !== AGREE && r.verdict !== UNASKED && r.verdict !== "vacuous");
  return outcome && (!w.class || w.class === (r.class || "none"));
};
const fits = (c, w) => (!w.chapter || c.chapter === w.chapter) && (!w.rule || c.rules.some((r) => data.rules[r][0] === w.rule))
  && (w.run === "" ? c.runs.some((r) => fitsRun(r, w)) : fitsRun(c.runs[w.run], w))
  && w.words.every((word) => searched(c).includes(word));

const badge = (r) => make("span", r.verdict + (r.unexpected ? " (unexpected)" : r.class ? " (known: " + r.class + ")" : ""),
  r.verdict === AGREE ? "good" : r.verdict === UNASKED || !r.unexpected ? "known" : "bad");
const field = (list, name, value) => {
  if (value === undefined || value === null || value === "") return;
  list.append(make("dt", name));
  const dd = make("dd");
  if (value instanceof Node) dd.append(value);
  else if (value.includes("\n")) { const pre = make("pre"); pre.append(make("code", value)); dd.append(pre); }
  else dd.append(make("code", value));
  list.append(dd);
};
const difference = (text) => {
  const pre = make("pre"), code = make("code");
  for (const line of text.split("\n")) code.append(make("span", line + "\n", line.startsWith("+ ") ? "add" : line.startsWith("- ") ? "del" : ""));
  pre.append(code);
  return pre;
};
const folded = (title, text) => {
  const more = make("details"), pre = make("pre");
  pre.append(make("code", text));
  more.append(make("summary", title), pre);
  return more;
};
const fill = (box, c) => {
  const list = make("dl"), ids = make("span");
  for (const r of c.rules) { const b = make("button", data.rules[r][0], "id"); b.onclick = () => tell(r); ids.append(b); }
  field(list, "rules", ids);
  field(list, "question", c.question);
  for (const program of c.programs || []) field(list, "program", program);
  field(list, "why", c.why);
  field(list, "expected", (c.expected || []).join(c.expected && c.expected.some((e) => e.includes("\n")) ? "\nor\n" : " or "));
  if (c.derivation) field(list, "derivation", folded("by these rules", c.derivation));
  c.runs.forEach((r, i) => {
    if (!r) return;
    const head = make("span");
    if (data.runs.length > 1) head.append(make("strong", data.runs[i].title + ": "));
    head.append(badge(r));
    field(list, "run", head);
    field(list, "given", r.given || r.message);
    if (r.diff && r.diff.split("\n").length > 2) field(list, "difference", difference(r.diff));
    for (const note of r.notes || []) field(list, "note", note);
    field(list, "again", r.command);
  });
  field(list, "the case", "relax-spec explain " + c.id);
  box.append(list);
};
const row = (c) => {
  const box = make("details"), head = make("summary");
  box.id = "case-" + c.id;
  c.runs.filter(Boolean).slice(0, 4).forEach((r) => head.append(badge(r), " "));
  head.append(c.id + " ", make("span", c.question.slice(0, 90), "dim"));
  box.append(head);
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1) fill(box, c);
    if (box.open) keep("case", c.id);
  });
  return box;
};
const draw = () => {
  const part = document.createDocumentFragment();
  for (const c of shown.slice(drawn, drawn + STEP)) part.append(row(c));
  at("cases").append(part);
  drawn = Math.min(drawn + STEP, shown.length);
  at("more").hidden = drawn >= shown.length;
  at("more").textContent = "more (" + (shown.length - drawn) + ")";
};
const show = () => {
  const w = wanted();
  shown = data.cases.filter((c) => fits(c, w));
  drawn = 0;
  at("cases").replaceChildren();
  at("count").textContent = shown.length + " of " + data.cases.length + " cases" + (rule ? ", of the rule " + rule : "");
  draw();
};
// The address keeps what is shown, so that it can be passed on.
const keep = (name, value) => {
  const state = new URLSearchParams(location.hash.slice(1));
  if (value) state.set(name, value); else state.delete(name);
  history.replaceState(null, "", "#" + state);
};
const refresh = () => {
  for (const name of ["text", "outcome", "chapter", "class", "run"]) keep(name, at(name).value);
  keep("rule", rule);
  keep("case", "");
  show();
};
const tell = (r) => {
  const [id, text, origin] = data.rules[r], box = at("rule");
  box.querySelector("h2").textContent = id;
  box.querySelector("p").textContent = text + " (" + origin + ")";
  box.querySelector("code").textContent = "relax-spec explain " + id;
  at("of-rule").onclick = () => { box.close(); rule = id; refresh(); };
  box.showModal();
};
const option = (select, value, text) => { const made = make("option", text); made.value = value; at(select).append(made); };
const options = () => {
  const seen = new Set(), classes = new Set(), chapters = new Set();
  for (const c of data.cases) { chapters.add(c.chapter); for (const r of c.runs) if (r) { seen.add(r.verdict); if (r.verdict !== AGREE && r.verdict !== UNASKED) classes.add(r.class || "none"); } }
  option("outcome", "", "every"); option("outcome", "unexpected", "unexpected"); option("outcome", "findings", "all findings");
  for (const v of seen) option("outcome", v, v);
  option("chapter", "", "every"); for (const c of chapters) option("chapter", c, c);
  option("class", "", "every"); for (const c of [...classes].sort()) option("class", c, c);
  option("run", "", "any"); data.runs.forEach((r, i) => option("run", String(i), r.title));
};
const matrix = () => {
  const groups = new Map();
  for (const c of data.cases) for (const key of byRule ? c.rules.map((r) => data.rules[r][0]) : [c.chapter]) {
    if (!groups.has(key)) groups.set(key, data.runs.map(() => [0, 0, 0]));
    c.runs.forEach((r, i) => { if (!r) return; const n = groups.get(key)[i]; if (r.verdict === UNASKED) n[2]++; else { n[1]++; if (r.verdict === AGREE) n[0]++; } });
  }
  let rows = [...groups].sort((a, b) => a[0] < b[0] ? -1 : 1);
  if (byRule) rows = rows.filter(([, n]) => n.some((m) => m[0] < m[1])).slice(0, MATRIX);
  const head = make("tr"), table = at("matrix");
  head.append(make("th", byRule ? "rule with findings" : "chapter"));
  for (const r of data.runs) head.append(make("th", r.title, "n"));
  const body = make("tbody");
  for (const [key, numbers] of rows) {
    const line = make("tr");
    line.append(make("td", key));
    numbers.forEach((n, i) => {
      const cell = make("td", undefined, "n"), b = make("button", n[0] + " / " + n[1] + (n[2] ? ", " + n[2] + " not asked" : ""), n[0] < n[1] ? "bad" : "good");
      b.onclick = () => {
        if (byRule) rule = key; else { rule = ""; at("chapter").value = key; }
        at("run").value = String(i); at("outcome").value = n[0] < n[1] ? "findings" : "";
        refresh(); at("filters").scrollIntoView();
      };
      cell.append(b); line.append(cell);
    });
    body.append(line);
  }
  const top = make("thead"); top.append(head);
  table.replaceChildren(top, body);
  at("by-chapter").setAttribute("aria-pressed", String(!byRule));
  at("by-rule").setAttribute("aria-pressed", String(byRule));
};
const restore = () => {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const name of ["text", "outcome", "chapter", "class", "run"]) at(name).value = state.get(name) || "";
  if (!location.hash && data.start) at("outcome").value = data.start;
  rule = state.get("rule") || "";
  show();
  const open = state.get("case");
  if (!open) return;
  let box = document.getElementById("case-" + open);
  if (!box) { const c = data.cases.find((c) => c.id === open); if (c) { box = row(c); at("cases").prepend(box); } }
  if (box) { box.open = true; box.scrollIntoView(); }
};
for (const r of data.runs) for (const said of [r.summary, ...(r.diagnosis || [])]) at("summary").append(make("p", (data.runs.length > 1 ? r.title + ": " : "") + said));
at("run").parentElement.hidden = data.runs.length < 2;
options(); matrix(); restore();
let later;
at("text").addEventListener("input", () => { clearTimeout(later); later = setTimeout(refresh, 120); });
for (const name of ["outcome", "chapter", "class", "run"]) at(name).addEventListener("change", refresh);
at("filters").addEventListener("submit", (e) => e.preventDefault());
at("filters").addEventListener("reset", () => { rule = ""; setTimeout(refresh); });
at("more").onclick = draw;
at("by-chapter").onclick = () => { byRule = false; matrix(); };
at("by-rule").onclick = () => { byRule = true; matrix(); };
at("close").onclick = () => at("rule").close();
addEventListener("hashchange", restore);
addEventListener("keydown", (e) => { if (e.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { e.preventDefault(); at("text").focus(); } });
// When the page could be used, in milliseconds after it was asked for.
document.documentElement.dataset.ready = Math.round(performance.now());
})();
