/* Charts of researchers' pages: draws the specifications that the page carries, in the theme of the page.
   Without it the tables are there all the same. */
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)"), isNarrow = matchMedia("(max-width: 30rem)");
  const options = { ast: true, actions: false, defaultStyle: false, renderer: "svg", tooltip: { disableDefaultStyle: true } };
  let plots = { charts: {}, themes: {} }, isPrinted = false;

  /* paper is white: its charts are drawn again before a page is printed, and once more after it */
  const themeName = () => isPrinted ? "light" : root.dataset.theme || (prefersDark.matches ? "dark" : "light");

  /* a chart beside a table is as wide as its room, and as high as the rows; some charts fit a phone */
  const fitted = (spec, room) => {
    const figure = room.closest("[data-chart]");
    if ("narrows" in figure.dataset && isNarrow.matches) return { ...spec, width: figure.parentElement.clientWidth - 72 };
    if (spec.autosize !== "none" && spec.autosize?.type !== "none") return spec;
    const { left, right } = spec.padding, bodies = [...figure.previousElementSibling.tBodies];
    const height = bodies.reduce((sum, body) => sum + body.getBoundingClientRect().height, 0);
    return { ...spec, width: room.clientWidth - left - right, height };
  };

  /* what is folded away has no size yet: it is drawn when it opens */
  const draw = async figure => {
    const room = figure.querySelector(".chart-room"), name = themeName(), key = `${name} ${isNarrow.matches}`;
    const spec = plots.charts[figure.dataset.chart];
    if (!spec || figure.dataset.drawn === key || figure.closest("details:not([open])")) return;
    figure.dataset.drawn = key;
    room.style.minHeight = `${room.offsetHeight}px`; // what is below stays in its place meanwhile
    await vegaEmbed(room, fitted(spec, room), { ...options, config: plots.themes[name] });
    room.style.minHeight = "";
    room.querySelector("svg").setAttribute("aria-hidden", "true"); // the room has its name, a table its numbers
  };
  const drawAll = () => { for (const figure of document.querySelectorAll("[data-chart]")) draw(figure); };

  const read = () => {
    const data = document.getElementById("plots");
    if (data) plots = JSON.parse(data.textContent);
    drawAll();
  };

  new MutationObserver(drawAll).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  for (const query of [prefersDark, isNarrow]) query.addEventListener("change", drawAll);
  for (const [name, value] of [["beforeprint", true], ["afterprint", false]]) addEventListener(name, () => { isPrinted = value; drawAll(); });
  document.addEventListener("toggle", drawAll, true);
  document.addEventListener("htmx:afterSettle", ({ detail: { elt } }) => { if (elt.id === "figures" || elt.querySelector("#plots")) read(); });
  read();
})();
