/* Rating pages: keys, counts, drafts and time on task. The page works without any of it:
   gates fold by the stylesheet, the server checks and stores. Listeners hang on the document, so
   that a unit that htmx swaps in needs no set-up beyond `begin`. */
(() => {
  const SAVE_AFTER = 400; // milliseconds without a change
  const RETRY_AFTER = [2, 5, 10, 20, 30]; // seconds; the last one again and again
  const IDLE_AFTER = 60_000; // milliseconds without a sign of life: the rater is not at it

  /* the words of this page, in its language: '{n} of {all} answered' */
  const words = (name, filled = {}) => {
    const said = JSON.parse(document.getElementById("words").textContent)[name];
    return said.replace(/\{(\w+)\}/g, (all, key) => filled[key] ?? all);
  };

  const one = (selector, root = document) => root?.querySelector(selector) ?? null;
  const all = (selector, root = document) => [...(root?.querySelectorAll(selector) ?? [])];
  const form = () => one("#questions[data-keys]");
  const kind = () => form()?.dataset.keys;
  const isShown = element => element.offsetParent !== null;

  /* --- questions: which are asked, which one is current ------------------------------------ */

  const isMatrix = () => kind() === "matrix";
  /* in the order of answering: a response's questions from the first to the last, then the next one's */
  const cells = () => all(isMatrix() ? "td" : ".question", form()).filter(cell => {
    const answers = one(".seg", cell);
    return answers && isShown(answers);
  }).sort((cell, other) => (cell.cellIndex ?? 0) - (other.cellIndex ?? 0));
  const current = () => one(".is-now", form());
  const CHOSEN = "input:checked, input[type=number]:not(:placeholder-shown)"; // a number has a blank as placeholder
  const chosen = cell => one(CHOSEN, cell);

  const open = () => cells().filter(cell => !chosen(cell) && !cell.closest("[data-flagged]"));
  const columnOf = cell => cells().filter(other => other.cellIndex === cell.cellIndex);

  const mark = cell => {
    if (cell === current()) return;
    current()?.classList.remove("is-now");
    cell?.classList.add("is-now");
    if (cell && isMatrix()) showResponse(cell);
  };
  /* where the responses do not all fit above the table, to the one that is judged */
  const showResponse = cell => {
    const room = one(".to-rate"), response = room.children[cell.cellIndex - 1];
    const its = response.getBoundingClientRect(), seen = room.getBoundingClientRect();
    room.scrollTo({
      left: its.left < seen.left - 1 || its.right > seen.right + 1 ? response.offsetLeft : room.scrollLeft,
      top: its.bottom <= seen.top || its.top >= seen.bottom ? response.offsetTop : room.scrollTop,
    });
  };

  const goTo = cell => {
    if (!cell) return;
    mark(cell);
    (chosen(cell) ?? one("input", cell)).focus({ preventScroll: true });
    (isMatrix() ? cell.closest("tr") : cell).scrollIntoView({ block: "nearest" });
    if (isMatrix()) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  /* along: through all cells in order; down and across: in the matrix */
  const along = step => {
    const asked = cells(), here = asked.indexOf(current());
    goTo(asked[here < 0 ? 0 : Math.min(asked.length - 1, Math.max(0, here + step))]);
  };
  const nextOpen = () => {
    const asked = cells(), here = asked.indexOf(current()), left = open();
    goTo(left.find(cell => asked.indexOf(cell) > here) ?? left[0]);
  };
  const down = step => {
    const here = current();
    if (!isMatrix() || !here) return along(step);
    const column = columnOf(here);
    goTo(column[column.indexOf(here) + step]);
  };
  const across = step => {
    const here = current();
    if (!here) return along(step);
    const row = cells().filter(cell => cell.parentElement === here.parentElement);
    goTo(row[row.indexOf(here) + step]);
  };

  const answer = wanted => {
    const cell = current() ?? cells()[0];
    const radio = cell && all("input[type=radio]", cell).find(wanted);
    if (!radio || radio.disabled) return;
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    along(1);
  };
  const answerYesNo = value => answer(radio => (
    radio.closest(".seg").dataset.scale === "yes_no" && radio.value === value
  ));
  const answerNumber = digit => answer(radio => {
    const answers = radio.closest(".seg");
    if (answers.dataset.scale === "yes_no") return false;
    if (answers.dataset.scale === "ordinal") return radio.value === digit;
    return all("input", answers).indexOf(radio) === Number(digit) - 1;
  });

  const count = () => {
    const asked = cells(), output = one("[data-answered]", form());
    if (output) output.textContent = words("answered", { n: asked.filter(chosen).length, all: asked.length });
    const missing = one("[data-missing]", form()), n = missing && open().length;
    if (!missing) return;
    const callout = missing.closest(".callout");
    callout.removeAttribute("role"); // said once, not after each answer
    callout.hidden = n === 0;
    missing.textContent = words(n === 1 ? "missing" : "missingMany", { n });
  };

  /* answers that cannot stand together are said at once; hidden ones are not asked */
  const checkContradictions = () => {
    for (const note of all("[data-when]", form())) {
      const holds = note.dataset.when.split(" ").every(pair => {
        const [name, value] = pair.split("=");
        const radio = one(`input[name="${CSS.escape(name)}"]:checked`, form());
        return radio?.value === value && isShown(radio.closest(".seg"));
      });
      if (note.classList.contains("is-on") !== holds) note.classList.toggle("is-on", holds);
    }
  };
  const contradiction = () => one(".form-error.is-on", form());

  /* --- keys -------------------------------------------------------------------------------- */

  const isTyping = target => target.matches?.("input:not([type=radio], [type=checkbox]), textarea, select");
  const press = selector => one(selector)?.click();
  const toggleHelp = () => {
    const help = one("details", isMatrix() ? current()?.closest("tr") : current());
    if (help) help.open = !help.open;
  };
  const KEYS = {
    "/": () => one("[data-find] input")?.select(),
    j: () => down(1), k: () => down(-1),
    h: () => isMatrix() && across(-1), l: () => isMatrix() && across(1),
    y: () => kind() === "judge" ? press('.judge-btn[value="1"]') : answerYesNo("1"),
    n: () => kind() === "judge" ? press('.judge-btn[value="0"]') : answerYesNo("0"),
    ".": nextOpen,
    e: toggleHelp,
    g: () => press("[data-guidelines]"),
    u: () => press("[data-undo]"),
  };
  const POPOVERS = { s: "#skip", f: "#flag", a: "#ask", c: "#whole", "?": "#keymap" };

  const submit = () => {
    const button = one('[type="submit"].btn--primary', form());
    if (button && !button.disabled) form().requestSubmit(button);
  };

  document.addEventListener("keydown", event => {
    if (!form()) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      event.preventDefault();
      if (!event.repeat && !one(":popover-open")) submit();
      return;
    }
    const key = keyOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || "noLetters" in form().dataset) return;
    const popover = POPOVERS[key] && one(POPOVERS[key]);
    const opened = one(":popover-open");
    if (popover && (!opened || opened === popover)) popover.togglePopover();
    else if (opened || event.repeat && "yn".includes(key)) return;
    else if (Object.hasOwn(KEYS, key)) KEYS[key]();
    else if (/^[0-9]$/.test(key)) answerNumber(key);
    else return;
    event.preventDefault();
  });

  /* --- time on task: visible, focused, not idle -------------------------------------------- */

  let seconds = 0, lastSign = 0, lastTick = 0;
  const tick = () => {
    const now = performance.now();
    const isAtIt = document.visibilityState === "visible" && document.hasFocus()
      && now - lastSign < IDLE_AFTER;
    if (isAtIt) seconds += Math.min(now - lastTick, 2000) / 1000;
    lastTick = now;
    const field = one("[data-seconds]", form());
    if (field) field.value = seconds.toFixed(1);
  };
  const noteSign = () => { lastSign = performance.now(); };
  for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "scroll"]) {
    document.addEventListener(sign, noteSign, { passive: true, capture: true });
  }
  setInterval(tick, 1000);

  /* --- drafts: in this browser at once, on the server a moment later ------------------------ */

  let saving = null; // the timer of the next attempt
  let isSaving = false; // one at a time: an older draft must not arrive last
  let failures = 0;
  let revision = 0; // of what is typed: what the server confirms must still be the newest

  const say = (state, text) => {
    const output = one("[data-save-state]", form());
    if (!output) return;
    output.dataset.state = state;
    if (output.textContent !== text) output.textContent = text;
  };
  const notice = (name, on) => {
    const callout = one(`[data-notice="${name}"]`, form());
    if (callout) callout.hidden = !on;
  };

  const copyName = () => form()?.dataset.keptAs;
  const keepCopy = () => {
    if (!copyName()) return; // a preview keeps nothing
    const fields = Object.fromEntries(all(".seg input", form()).filter(i => i.matches(CHOSEN)).map(r => [r.name, r.value]));
    try { localStorage.setItem(copyName(), JSON.stringify({ fields, seconds, at: Date.now() })); } catch { /* private mode, or full */ }
  };
  const dropCopy = name => { try { localStorage.removeItem(name); } catch { /* as above */ } };
  const readCopy = () => {
    try { return copyName() ? JSON.parse(localStorage.getItem(copyName())) : null; } catch { return null; }
  };
  const putBack = ({ fields, seconds: counted }) => {
    for (const input of all(".seg input", form())) {
      if (input.type === "number") input.value = fields[input.name] ?? "";
      else input.checked = fields[input.name] === input.value;
    }
    seconds = Math.max(seconds, counted || 0);
  };

  const saveSoon = (after = SAVE_AFTER) => {
    clearTimeout(saving);
    saving = setTimeout(save, after);
  };
  const failed = () => {
    say(navigator.onLine ? "error" : "offline",
      words(navigator.onLine ? "notSaved" : "offline"));
    notice("offline", !navigator.onLine);
    saveSoon(1000 * RETRY_AFTER[Math.min(failures++, RETRY_AFTER.length - 1)]);
  };

  const save = async () => {
    const sent = form(), url = sent?.dataset.draft, name = copyName(), mine = revision;
    clearTimeout(saving);
    saving = null;
    if (!url || sent.matches(".htmx-request")) return;
    if (isSaving) { saveSoon(); return; }
    if (!navigator.onLine) { failed(); return; }
    tick();
    say("saving", "Saving…");
    isSaving = true;
    let answered = null, saved = null;
    try {
      answered = await fetch(url, {
        method: "POST", body: new FormData(sent), headers: { Accept: "application/json" },
        redirect: "manual", keepalive: true, signal: AbortSignal.timeout(15_000),
      });
      if (answered.ok) saved = await answered.json();
    } catch { /* no connection, or too slow, also in the middle of the answer */ }
    isSaving = false;
    if (sent !== form()) { if (saved && mine === revision) dropCopy(name); return; }
    if (answered?.type === "opaqueredirect" || answered?.status === 403) {
      say("error", words("signedOut"));
      notice("signed-out", true);
    } else if (!saved) {
      failed();
    } else {
      await confirmed(saved, name, mine);
    }
  };
  const confirmed = async (said, name, mine) => {
    failures = 0;
    notice("offline", false);
    notice("signed-out", false);
    notice("gone", said.state === "gone");
    if (mine !== revision) return; // something was typed since: its own save is under way
    dropCopy(name);
    const at = new Date(said.saved_at ?? Date.now());
    const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    say("", words("saved", { time }));
  };

  const changed = () => {
    revision += 1;
    count();
    checkContradictions();
    keepCopy();
    if (form().dataset.draft) saveSoon(); else if (copyName()) say("offline", words("changed"));
  };

  /* --- submitting -------------------------------------------------------------------------- */

  let isWaiting = false; // a submit that did not arrive is sent again
  let retrying = null;
  let submitted = null; // the browser copy of what is on its way

  const notArrived = () => {
    isWaiting = true;
    notice("not-submitted", true);
    notice("offline", false);
    say(navigator.onLine ? "error" : "offline", words("notSubmitted"));
    clearTimeout(retrying);
    retrying = setTimeout(tryNow, 1000 * RETRY_AFTER[Math.min(failures++, RETRY_AFTER.length - 1)]);
  };
  const tryNow = () => {
    clearTimeout(retrying);
    if (!form()) return;
    if (isWaiting) submit(); else if (saving) save();
  };

  document.addEventListener("submit", event => {
    if (event.target !== form()) return;
    const wrong = contradiction();
    if (wrong && kind() !== "judge") {
      event.preventDefault();
      event.stopImmediatePropagation();
      const name = wrong.dataset.when.split(" ").pop().split("=")[0];
      goTo(document.getElementById(name));
      return;
    }
    tick();
    clearTimeout(saving);
    saving = null;
    submitted = copyName();
  }, true);

  const isRating = event => event.target === form();
  document.addEventListener("htmx:sendError", event => { if (isRating(event)) notArrived(); });
  document.addEventListener("htmx:timeout", event => { if (isRating(event)) notArrived(); });
  document.addEventListener("htmx:responseError", event => {
    if (!isRating(event)) return;
    if (event.detail.xhr.status === 403) notice("signed-out", true); else notArrived();
  });
  document.addEventListener("htmx:beforeSwap", event => {
    const { xhr, requestConfig } = event.detail;
    if (requestConfig?.elt?.id === "questions" && xhr.status < 300 && submitted) dropCopy(submitted);
    // a page drawn before the draft arrived must not take the place of what is chosen here
    if (requestConfig?.elt?.matches("#flag form, #take-back, #ask form")) keepCopy();
  });
  window.addEventListener("online", tryNow);
  window.addEventListener("offline", () => { if (form()?.dataset.draft && saving) failed(); });

  /* --- the rest of the page ---------------------------------------------------------------- */

  document.addEventListener("change", event => {
    if (form()?.contains(event.target) && event.target.matches(".seg input")) changed();
  });
  document.addEventListener("input", event => { // a number counts before its field is left
    if (form()?.contains(event.target) && event.target.matches(".seg--number input")) changed();
  });
  document.addEventListener("focusin", event => {
    const cell = form()?.contains(event.target) && event.target.closest(isMatrix() ? "td:has(.seg)" : ".question");
    if (cell) mark(cell);
  });
  /* between a citation and its row of the evidence: nothing for the history, whose page may be older */
  const show = place => {
    place.scrollIntoView({ block: "center" });
    place.focus({ preventScroll: true });
  };
  document.addEventListener("click", event => {
    const go = event.target.closest("[data-go]");
    if (go) { event.preventDefault(); goTo(document.getElementById(go.hash.slice(1))); }
    if (event.target.closest("[data-next-open]")) { event.preventDefault(); nextOpen(); }
    /* by pointer too, from the foot of a column to the next one; arrow keys make clicks without a detail */
    const cell = event.detail > 0 && isMatrix() && event.target.matches(".seg input") && event.target.closest("td");
    if (cell && cell === columnOf(cell).at(-1)) { mark(cell); nextOpen(); }
    if (event.target.closest("[data-try-now]")) tryNow();
    const way = event.target.closest("[data-way]");
    if (way) { event.preventDefault(); show(document.getElementById(way.hash.slice(1))); }
  });
  /* help that is open at first stays closed once it was closed, in the next unit too */
  const helpName = help => `attest-help:${help.dataset.help}`;
  document.addEventListener("toggle", event => {
    const help = event.target;
    if (!help.matches?.("[data-help]")) return;
    try {
      if (help.open) localStorage.removeItem(helpName(help)); else localStorage.setItem(helpName(help), "closed");
    } catch { /* as above */ }
  }, true);
  const closeHelp = () => {
    try {
      for (const help of all("[data-help][open]")) if (localStorage.getItem(helpName(help))) help.open = false;
    } catch { /* as above */ }
  };
  document.addEventListener("visibilitychange", () => {
    tick();
    if (document.visibilityState === "hidden" && saving) save();
  });

  /* a form that came back with an error: to the first one, also where dialog and evidence stand
     above the questions; a moment later, since htmx scrolls to the top itself */
  const goToError = () => {
    const wrong = one("input[autofocus]", form())?.closest(isMatrix() ? "td" : ".question");
    if (!wrong) return;
    requestAnimationFrame(() => {
      goTo(wrong);
      wrong.scrollIntoView({ block: "center" });
    });
  };

  const begin = () => {
    clearTimeout(saving);
    clearTimeout(retrying);
    saving = retrying = submitted = null;
    isWaiting = false;
    failures = 0;
    if (!form()) return;
    closeHelp();
    noteSign();
    lastTick = performance.now();
    seconds = Number(one("[data-seconds]", form())?.value) || 0;
    const copy = readCopy(), savedAt = 1000 * Number(form().dataset.savedAt || 0);
    if (copy?.at > savedAt && Object.keys(copy.fields).length) {
      putBack(copy);
      changed();
    } else if (copy) {
      dropCopy(copyName()); // a later draft came from elsewhere
    }
    if (kind() !== "judge") {
      count();
      checkContradictions();
      mark(document.activeElement?.closest?.(".question, td:has(.seg)") ?? cells().find(cell => !chosen(cell)) ?? cells()[0]);
    }
    goToError();
    if (matchMedia("(min-width: 60.01rem)").matches) {
      for (const pane of all("[data-scroll-end]")) pane.scrollTop = pane.scrollHeight;
    }
  };
  /* a new unit: whoever listens is told so by its heading */
  const beginNew = () => {
    if (form() && document.activeElement === document.body) {
      const main = one("#main");
      main.tabIndex = -1;
      main.focus({ preventScroll: true });
    }
    begin();
  };
  document.addEventListener("htmx:afterSettle", event => { if (event.target === document.body) beginNew(); });
  document.addEventListener("htmx:historyRestore", beginNew);
  begin();
})();
