/* Find in the evidence: the rater's own search, the only thing that marks words there. */
(() => {
  const one = selector => document.querySelector(selector);

  /* a match that goes over bold words or a link has several marks with one number */
  const marks = () => [...document.querySelectorAll("[data-find-in] mark")];
  const matches = () => Object.values(Object.groupBy(marks(), mark => mark.dataset.match));
  const showMatch = at => {
    const hits = matches(), output = one("[data-find] output");
    hits.forEach((hit, index) => hit.forEach(mark => mark.classList.toggle("is-now", index === at)));
    const said = JSON.parse(one("#words").textContent).match;
    output.value = sought ? said.replace("{n}", hits.length ? at + 1 : 0).replace("{all}", hits.length) : "";
    hits[at]?.[0].scrollIntoView({ block: "nearest" });
  };
  const stepMatch = step => {
    const hits = matches(), at = hits.findIndex(([mark]) => mark.classList.contains("is-now"));
    if (hits.length) showMatch((at + step + hits.length) % hits.length);
  };
  /* the text nodes of each line of text: a paragraph, a cell, or what a line end separates */
  const linesOf = text => {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT), lines = [];
    let block = null;
    while (walker.nextNode()) {
      const node = walker.currentNode, parent = node.parentElement, its = parent.closest("p, li, th, td, h3, pre, caption, div");
      if (parent.closest(".source, .vh, .cite-mark")) continue;
      if (its !== block || node.previousSibling?.nodeName === "BR") lines.push([]);
      lines.at(-1).push(node);
      block = its;
    }
    return lines;
  };
  /* mark a line from one character to another; each mark takes its place among the line's nodes */
  const markIn = (line, start, end, number) => {
    let before = 0;
    for (let at = 0; at < line.length && before < end; at++) {
      const node = line[at], from = Math.max(start - before, 0), to = Math.min(end - before, node.length);
      before += node.length;
      if (from >= to) continue;
      const found = node.splitText(from), rest = found.splitText(to - from), mark = document.createElement("mark");
      line.splice(at, 1, node, found, rest);
      at += 2;
      mark.dataset.match = number;
      found.replaceWith(mark);
      mark.append(found);
    }
  };
  /* words are sought letter by letter with their accents apart, since texts write é as one letter or as two; `at` says
     where each part stands in the line */
  const apart = line => {
    const at = [];
    let text = "", place = 0;
    for (const letter of line) {
      const parts = letter.normalize("NFD");
      text += parts;
      for (let n = 0; n < parts.length; n++) at.push(place);
      place += letter.length;
    }
    return { text, at: [...at, place] };
  };
  const escaped = words => words.normalize("NFD").replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
  let sought = "";
  const find = words => {
    const text = one("[data-find-in]");
    if (!text) return;
    sought = words;
    for (const hit of marks()) hit.replaceWith(hit.textContent);
    text.normalize();
    if (!/^\p{ASCII}?$/u.test(words)) { // one letter is a word in Chinese only
      const pattern = new RegExp(`${escaped(words)}\\p{M}*`, "giu"); // with the accents of the last letter
      let number = 0;
      for (const line of linesOf(text)) {
        const { text: written, at } = apart(line.map(node => node.data).join(""));
        for (const match of written.matchAll(pattern)) {
          const end = match.index + match[0].length;
          markIn(line, at[match.index], at[end] > at[end - 1] ? at[end] : at.find(place => place > at[end]), number++);
        }
      }
    }
    showMatch(0);
  };

  document.addEventListener("input", event => {
    if (event.target.matches("[data-find] input")) find(event.target.value.trim());
  });
  /* words of a response that are selected are sought as if they were typed, until the selection goes */
  const selected = () => {
    if (getSelection().isCollapsed) return "";
    const range = getSelection().getRangeAt(0).cloneRange();
    const response = range.startContainer.parentElement?.closest(".desk .response");
    if (!response) return "";
    /* three clicks select a whole paragraph, up to the start of what comes after it */
    if (!response.contains(range.endContainer)) range.setEndAfter(response.lastChild);
    return range.toString().trim();
  };
  let settling = null;
  document.addEventListener("selectionchange", () => {
    clearTimeout(settling);
    settling = setTimeout(() => {
      const words = selected() || one("[data-find] input")?.value.trim() || "";
      if (words !== sought) find(words);
    }, 150);
  });
  document.addEventListener("mousedown", event => { // a step to the next match leaves the selection as it is
    if (event.target.closest("[data-step]")) event.preventDefault();
  });
  document.addEventListener("submit", event => {
    if (!event.target.matches("[data-find]")) return;
    event.preventDefault();
    stepMatch(1);
  });
  document.addEventListener("click", event => {
    const step = event.target.closest("[data-step]");
    if (step) stepMatch(Number(step.dataset.step));
  });
})();
