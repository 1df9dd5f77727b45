/* The editor of guidelines: the preview scrolls with the text, and an example that was added is in
   view at first. The page works without it. */
(() => {
  const text = document.querySelector("textarea[name=text]"), preview = document.getElementById("preview");
  const rest = box => box.scrollHeight - box.clientHeight; // how far a box can be scrolled

  const follow = () => { preview.scrollTop = rest(preview) * text.scrollTop / Math.max(1, rest(text)); };
  text.addEventListener("scroll", follow, { passive: true });
  document.addEventListener("htmx:afterSettle", follow);

  /* the height of the text up to the example, which only the browser knows, since lines wrap */
  const scrollTo = place => {
    const whole = text.value;
    text.value = whole.slice(0, place);
    const top = rest(text) > 0 ? text.scrollHeight - 40 : 0; // with the line before it
    text.value = whole;
    text.scrollTop = top;
  };
  if (text.dataset.example) scrollTo(text.value.lastIndexOf(text.dataset.example));
})();
