// The form of the playground. The command, its worker and the examples are in command.js, which `tools/playground.sh`
// makes; without it the page says so.

(() => {
  "use strict";

  const TABS = ["check", "run", "types", "judge", "refine", "more"];
  const form = document.getElementById("playground-form");
  const inside = (name) => form.querySelector(name);
  const [tabs, edited, output, status, known] = [".tabs", ".files", ".output", ".status", ".known"].map(inside);
  const [example, line, run, end] = ["example", "line", "run", "end"].map((name) => inside(`#playground-${name}`));
  /** A place in a file, the id of a rule, or that of an erratum. */
  const MARKED = /([\w./-]+\.py:\d+(?::\d+)?|\b[A-Z][A-Z0-9]*(?:\.[A-Z0-9]+)+\b|\b[A-Z]\d{2,3}\b)/;
  /** The files that commands have written, by their paths. */
  let kept = {};
  let module;
  let worker;

  /** A command line as a shell splits it: quotes are taken away, and nothing is expanded. */
  function words(text) {
    const found = text.match(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/g) ?? [];
    return found.map((word) =>
      word.replace(/\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/g, (_, escaped, single, double) =>
        escaped ?? single ?? double.replace(/\\(["\\$`])/g, "$1"),
      ),
    );
  }

  const isSetting = (word) => /^[A-Za-z_]\w*=/.test(word);
  const tabOf = (text) => {
    const name = words(text).filter((word) => !isSetting(word))[1];
    return TABS.includes(name) ? name : "more";
  };

  /** What the examples of README.md lack: `types` is shown there in passing. */
  const offered = (tab) =>
    [...relaxSpecPlayground.examples, "relax-spec types examples/scale.py"].filter((text) => tabOf(text) === tab);

  function editor(path) {
    const label = document.createElement("label");
    const name = document.createElement("span");
    const text = document.createElement("textarea");
    name.textContent = path;
    text.value = relaxSpecPlayground.files[path];
    text.dataset.path = path;
    Object.assign(text, { spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off" });
    text.rows = Math.min(Math.max(text.value.split("\n").length, 8), 24);
    label.append(name, text);
    text.oninput = () => learn(text);
    text.onmousemove = (event) => tell(text, ...under(text, event), event);
    text.onmouseleave = () => (known.hidden = true);
    text.onkeyup = () => tell(text, ...cursor(text));
    if (module) learn(text);
    return label;
  }

  // What is known of a name: under the mouse beside it, at the cursor in the line below the command.

  /** The variables of each file, by its path. */
  const variables = {};
  const askers = {};

  /** Finds out what is known of the variables of a file, in a worker of its own. A newer question ends the last one. */
  function learn(text) {
    const path = text.dataset.path;
    askers[path]?.terminate();
    const asker = (askers[path] = new Worker(URL.createObjectURL(new Blob([relaxSpecPlayground.worker], { type: "text/javascript" }))));
    let out = "";
    const decoder = new TextDecoder();
    asker.onmessage = ({ data }) => {
      if (data.stream === "out") out += decoder.decode(data.bytes, { stream: true });
      if (data.exit === 0) variables[path] = JSON.parse(out).variables;
    };
    const files = { "target/": [], [path]: new TextEncoder().encode(text.value) };
    asker.postMessage({ module, args: ["relax-spec", "types", path, "--format", "json"], env: [], files });
  }

  /** The row and the column of the cursor, from 0. */
  function cursor(text) {
    const rows = text.value.slice(0, text.selectionStart).split("\n");
    return [rows.length - 1, rows.at(-1).length];
  }

  /** The row and the column under the mouse, from 0. */
  function under(text, event) {
    const style = getComputedStyle(text);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const size = (name) => parseFloat(style[name]);
    const x = event.offsetX - size("paddingLeft") + text.scrollLeft;
    const y = event.offsetY - size("paddingTop") + text.scrollTop;
    return [Math.floor(y / size("lineHeight")), Math.floor(x / pen.measureText("0").width)];
  }

  /** Shows what is known of the name at a place: of its last binding before it, or else of its first one. */
  function tell(text, row, column, mouse) {
    const line = text.value.split("\n")[row] ?? "";
    const name = [...line.matchAll(/[A-Za-z_]\w*/g)].find(
      ({ 0: word, index }) => index <= column && column < index + word.length + (mouse ? 0 : 1),
    )?.[0];
    const named = (variables[text.dataset.path] ?? []).filter((variable) => variable.name === name);
    const found = named.findLast((variable) => variable.start.line <= row + 1) ?? named[0];
    known.hidden = !found;
    if (!found) return;
    known.textContent = `${name}: ${found.info}`;
    known.classList.toggle("beside", Boolean(mouse));
    known.style.translate = mouse ? `${mouse.clientX + 12}px ${mouse.clientY + 16}px` : "";
  }

  const editors = () => [...edited.querySelectorAll("textarea")];

  /** Shows the files and the command line of an example. */
  function show(text) {
    line.value = text;
    const paths = words(text).filter((word) => word in relaxSpecPlayground.files);
    edited.replaceChildren(...paths.map(editor));
    output.replaceChildren();
    say("");
  }

  function choose(tab, focus) {
    for (const button of tabs.children) {
      const chosen = button.dataset.tab === tab;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) button.focus();
      if (chosen) document.getElementById("playground-panel").setAttribute("aria-labelledby", button.id);
    }
    example.replaceChildren(...offered(tab).map((text) => new Option(text)));
    show(example.value);
  }

  function say(text, state = "ready") {
    status.textContent = text;
    form.dataset.state = state;
    run.disabled = !module || state === "running";
    end.disabled = state !== "running";
  }

  /** The page of a rule or an erratum, if the site has one. */
  function pageOf(id) {
    const found = document.querySelector(`.sidebar a[href$="/${id}.html"], .sidebar a[href^="rules/${id}.html"]`);
    return found?.href;
  }

  /** A part of the output as an element: a link to the page of a rule, a button to the place in a file, or text. */
  function part(text, at) {
    // What is marked comes between what is not.
    if (at % 2 === 0) return text;
    const place = /^([\w./-]+):(\d+)(?::(\d+))?$/.exec(text);
    if (place && editors().some((text) => text.dataset.path === place[1])) {
      const button = document.createElement("button");
      const onclick = () => select(place[1], +place[2], +(place[3] ?? 1));
      Object.assign(button, { type: "button", textContent: text, onclick });
      return button;
    }
    const page = !place && pageOf(text);
    return page ? Object.assign(document.createElement("a"), { href: page, textContent: text }) : text;
  }

  /** Puts the cursor at a place. */
  function select(path, row, column) {
    const text = editors().find((text) => text.dataset.path === path);
    const rows = text.value.split("\n");
    const start = rows.slice(0, row - 1).reduce((sum, row) => sum + row.length + 1, 0);
    text.focus();
    text.setSelectionRange(start + column - 1, start + (rows[row - 1]?.length ?? 0));
    text.scrollTop = (text.scrollHeight / rows.length) * Math.max(row - 5, 0);
  }

  /** Output is shown when it is whole, with its links, and as text before. */
  function shown(stream, text) {
    const span = document.createElement("span");
    span.className = stream;
    span.append(...text.split(MARKED).map(part));
    return span;
  }

  function start() {
    if (run.disabled) return;
    const all = words(line.value);
    const first = all.findIndex((word) => !isSetting(word));
    const [env, args] = first < 0 ? [all, []] : [all.slice(0, first), all.slice(first)];
    if (args[0] !== "relax-spec") return say("The command line begins with relax-spec.");
    const encode = new TextEncoder();
    const files = { "target/": [], ...kept };
    for (const text of editors()) files[text.dataset.path] = encode.encode(text.value);
    output.replaceChildren();
    say("It runs ..", "running");
    const begun = performance.now();
    const taken = () => `${Math.round(performance.now() - begun)} ms`;
    const parts = [];
    const ended = (text) => {
      output.replaceChildren(...parts.map(({ stream, text }) => shown(stream, text)));
      say(text);
    };
    worker ??= new Worker(URL.createObjectURL(new Blob([relaxSpecPlayground.worker], { type: "text/javascript" })));
    const decoders = { out: new TextDecoder(), err: new TextDecoder() };
    worker.onmessage = ({ data }) => {
      if (data.stream) {
        const text = decoders[data.stream].decode(data.bytes, { stream: true });
        if (parts.at(-1)?.stream === data.stream) parts.at(-1).text += text;
        else parts.push({ stream: data.stream, text });
        output.append(text);
      } else if (data.ended) {
        ended(`Ended after ${taken()}, without a result: ${data.ended}`);
      } else {
        kept = data.files;
        ended(`Exit status ${data.exit}, after ${taken()}`);
      }
    };
    end.onclick = () => {
      worker.terminate();
      worker = undefined;
      ended(`Ended after ${taken()}, on request`);
    };
    worker.postMessage({ module, args, env, files });
  }

  async function load() {
    const bytes = Uint8Array.from(atob(relaxSpecPlayground.command), (letter) => letter.charCodeAt(0));
    delete relaxSpecPlayground.command;
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    module = await WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  }

  function fill() {
    tabs.append(
      ...TABS.map((tab) => {
        const button = document.createElement("button");
        const name = tab[0].toUpperCase() + tab.slice(1);
        Object.assign(button, { type: "button", role: "tab", textContent: name, id: `playground-tab-${tab}` });
        button.dataset.tab = tab;
        button.setAttribute("aria-controls", "playground-panel");
        button.onclick = () => choose(tab);
        return button;
      }),
    );
    example.onchange = () => show(example.value);
    choose(TABS[0]);
    say("The command is loaded ..", "loading");
  }

  form.onsubmit = (event) => {
    event.preventDefault();
    start();
  };
  form.onkeydown = (event) => {
    // The book has shortcuts for what is typed anywhere.
    event.stopPropagation();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      start();
    }
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = TABS.indexOf(event.target.dataset?.tab);
    if (step && at >= 0) choose(TABS.at((at + step) % TABS.length), true);
  };

  const begun = performance.now();
  const script = document.createElement("script");
  script.src = new URL("command.js", document.currentScript.src);
  script.onerror = () => say("This site was built without the command: tools/playground.sh makes it.", "absent");
  script.onload = async () => {
    try {
      fill();
      await load();
      editors().forEach(learn);
      say(`Ready after ${Math.round(performance.now() - begun)} ms`);
    } catch (error) {
      say(`This browser cannot run the command: ${error.message}`, "absent");
    }
  };
  document.head.append(script);
})();
