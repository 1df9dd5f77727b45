/* Find in the evidence: the rater's own search, the only thing that marks words there. */
(() => {
  const one = selector => document.querySelector(selector);

  const marks = () => [...document.querySelectorAll("[data-find-in] mark")];
  const showMatch = at => {
    const hits = marks(), output = one("[data-find] output");
    hits.forEach((hit, index) => hit.classList.toggle("is-now", index === at));
    output.value = one("[data-find] input").value ? `${hits.length ? at + 1 : 0} of ${hits.length}` : "";
    hits[at]?.scrollIntoView({ block: "nearest" });
  };
  const stepMatch = step => {
    const hits = marks(), at = hits.findIndex(hit => hit.classList.contains("is-now"));
    if (hits.length) showMatch((at + step + hits.length) % hits.length);
  };
  const find = words => {
    const text = one("[data-find-in]");
    for (const hit of marks()) hit.replaceWith(hit.textContent);
    text.normalize();
    if (words.length > 1) {
      const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
      const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT), nodes = [];
      while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(".source, .vh, .cite-mark")) nodes.push(walker.currentNode);
      for (const node of nodes) {
        for (const match of [...node.data.matchAll(pattern)].reverse()) {
          const hit = document.createElement("mark"), found = node.splitText(match.index);
          found.splitText(match[0].length);
          found.replaceWith(hit);
          hit.append(found);
        }
      }
    }
    showMatch(0);
  };

  document.addEventListener("input", event => {
    if (event.target.matches("[data-find] input")) find(event.target.value.trim());
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
