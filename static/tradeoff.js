/* The figure of a trade-off: drag to zoom, a card beside a mark, a row and its mark light up together, arrow keys.
   Without it the numbers zoom, and every mark and row is a link. */
(() => {
  const SVG = "http://www.w3.org/2000/svg", LEAST = 6; // px: a shorter drag is a click
  const plotOf = target => target instanceof Element ? target.closest("[data-plot]") : null;
  const numbers = text => text.trim().split(/\s+/).map(Number);
  let drag = null;

  /* where the pointer is, in the units of the figure, kept inside its frame */
  const placeOf = (event, plot) => {
    const svg = plot.querySelector("svg"), [left, top, right, bottom] = numbers(plot.dataset.plot);
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return { x: Math.min(Math.max(x, left), right), y: Math.min(Math.max(y, top), bottom) };
  };

  const cancel = () => { drag?.box.remove(); drag = null; };

  const zoomTo = (plot, from, to) => {
    const [left, top, right, bottom] = numbers(plot.dataset.plot), [xFrom, xTo, yFrom, yTo] = numbers(plot.dataset.window);
    const share = (place, start, end, low, high) => (low + (place - start) / (end - start) * (high - low)).toFixed(3);
    const ends = {
      x_from: share(Math.min(from.x, to.x), left, right, xFrom, xTo), x_to: share(Math.max(from.x, to.x), left, right, xFrom, xTo),
      y_from: share(Math.max(from.y, to.y), bottom, top, yFrom, yTo), y_to: share(Math.min(from.y, to.y), bottom, top, yFrom, yTo),
    };
    const least = Number(plot.dataset.least), narrow = ["x", "y"].find(side => ends[`${side}_to`] - ends[`${side}_from`] < least);
    if (narrow) { // as the server refuses it
      const field = document.getElementById(`zoom-${narrow}_to`);
      field.closest("details").open = true;
      field.setCustomValidity(`A part to see is at least ${least} wide and high.`);
      field.reportValidity();
      field.setCustomValidity("");
      return;
    }
    for (const [name, end] of Object.entries(ends)) document.getElementById(`zoom-${name}`).value = Number(end);
    document.getElementById("view").requestSubmit();
  };

  document.addEventListener("pointerdown", event => {
    const plot = plotOf(event.target);
    if (!plot || event.button !== 0 || event.pointerType === "touch") return;
    const start = placeOf(event, plot), box = document.createElementNS(SVG, "rect");
    box.setAttribute("class", "zoom-box");
    plot.querySelector("svg").append(box);
    drag = { plot, start, box, x: event.clientX, y: event.clientY, isLong: false };
  });
  document.addEventListener("pointermove", event => {
    if (!drag) return;
    const { start, box } = drag, here = placeOf(event, drag.plot);
    drag.isLong ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) >= LEAST;
    if (!drag.isLong) return;
    const sides = { x: Math.min(start.x, here.x), y: Math.min(start.y, here.y), width: Math.abs(here.x - start.x), height: Math.abs(here.y - start.y) };
    for (const [name, length] of Object.entries(sides)) box.setAttribute(name, length);
  });
  document.addEventListener("pointerup", event => {
    if (!drag) return;
    const { plot, start, isLong } = drag, here = placeOf(event, plot);
    cancel();
    if (!isLong || here.x === start.x || here.y === start.y) return;
    // the click that follows a drag opens no mark
    const swallow = click => { click.preventDefault(); click.stopPropagation(); };
    addEventListener("click", swallow, true);
    setTimeout(() => { removeEventListener("click", swallow, true); zoomTo(plot, start, here); });
  });
  document.addEventListener("pointercancel", cancel);
  document.addEventListener("keydown", event => { if (event.key === "Escape") cancel(); });
  document.addEventListener("dragstart", event => { if (plotOf(event.target)) event.preventDefault(); });
  document.addEventListener("dblclick", event => {
    if (plotOf(event.target) && !event.target.closest("a")) document.querySelector("[data-whole]")?.click();
  });

  /* a small card says what a mark is */
  const card = document.createElement("p");
  Object.assign(card, { className: "plot-card", hidden: true, ariaHidden: "true" }); // the mark's label says the same
  const tell = mark => {
    const plot = plotOf(mark), { name } = mark.dataset, strong = document.createElement("strong");
    mark.querySelector("title")?.remove(); // the browser's own card
    strong.textContent = name;
    card.replaceChildren(strong, mark.getAttribute("aria-label").slice(name.length + 2));
    card.hidden = false;
    plot.append(card);
    const room = plot.getBoundingClientRect(), at = mark.getBoundingClientRect(), { width, height } = card.getBoundingClientRect();
    const above = at.top - room.top - height - 6;
    card.style.left = `${Math.max(0, Math.min(at.left - room.left + at.width / 2 - width / 2, room.width - width))}px`;
    card.style.top = `${above >= 0 ? above : at.bottom - room.top + 6}px`;
  };
  document.addEventListener("keydown", event => { if (event.key === "Escape") card.hidden = true; });

  /* a row and its mark lead to the same responses, and a step of restricted context has its own lines */
  const lightStep = (share, on) => { for (const line of document.querySelectorAll(`[data-plot] .line[data-share="${share}"]`)) line.classList.toggle("is-on", on); };
  const light = on => event => {
    if (!(event.target instanceof Element)) return;
    const { share } = event.target.closest("[data-plot] [data-share]")?.dataset ?? {};
    if (share) lightStep(share, on);
    const mark = event.target.closest("[data-plot] a.dot");
    if (mark && on && !drag) tell(mark); else card.hidden = true;
    const link = mark ?? event.target.closest("[data-setups] tr")?.querySelector("a");
    if (!link) return;
    const address = link.getAttribute("href");
    for (const mark of document.querySelectorAll("[data-plot] a.dot")) if (mark.getAttribute("href") === address) mark.classList.toggle("is-on", on);
    for (const each of document.querySelectorAll("[data-setups] a")) if (each.getAttribute("href") === address) each.closest("tr").classList.toggle("is-on", on);
  };
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, light(true));
  for (const name of ["pointerout", "focusout"]) document.addEventListener(name, light(false));

  /* arrow keys go to the nearest mark on that side */
  const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  document.addEventListener("keydown", event => {
    const mark = event.target instanceof Element && event.target.closest("[data-plot] a.dot"), way = DIRECTIONS[event.key];
    if (!mark || !way) return;
    event.preventDefault();
    const middle = element => { const { x, y, width, height } = element.getBoundingClientRect(); return [x + width / 2, y + height / 2]; };
    const [x, y] = middle(mark);
    let best = null, least = Infinity;
    for (const other of plotOf(mark).querySelectorAll("a.dot")) {
      const [otherX, otherY] = middle(other), along = (otherX - x) * way[0] + (otherY - y) * way[1];
      const aside = Math.abs((otherX - x) * way[1]) + Math.abs((otherY - y) * way[0]);
      if (along > 0.5 && along + 2 * aside < least) [best, least] = [other, along + 2 * aside];
    }
    best?.focus();
  });

  /* what is unfolded stays so when the page is renewed, and the field that was changed keeps the focus */
  let unfolded = [], focused = "";
  const isOwn = event => ["tradeoff", "restricted"].includes(event.detail.target?.id);
  document.addEventListener("htmx:beforeSwap", event => {
    if (!isOwn(event)) return;
    unfolded = [...document.querySelectorAll("details[data-stays][open]")].map(each => each.id);
    focused = document.activeElement?.id ?? "";
  });
  document.addEventListener("htmx:afterSwap", event => {
    if (!isOwn(event)) return;
    for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.focus();
  });
})();
