/* Verifying a sample or reviewing a construction by hand: keys. The page works without it. */
(() => {
  const bar = document.querySelector("#verdict");
  const one = selector => document.querySelector(selector);
  const isTyping = target => target.matches?.("input:not([type=checkbox]), textarea, select");
  const letters = {
    k: () => one('#verdict button[value="keep"]').click(),
    e: () => one("textarea[name=question]")?.select(),
    d: () => one("#verdict input[name=reason]").select(),
  };
  const arrows = {
    arrowleft: () => one("a[rel=prev]")?.click(),
    arrowright: () => one("a[rel=next]")?.click(),
  };

  document.addEventListener("keydown", event => {
    const key = keyOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (isTyping(event.target)) {
      if (key === "escape") event.target.blur();
      return;
    }
    const keys = "noLetters" in bar.dataset ? arrows : { ...letters, ...arrows };
    if (!Object.hasOwn(keys, key)) return;
    event.preventDefault();
    keys[key]();
  });
})();
