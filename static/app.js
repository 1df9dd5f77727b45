/* What every page may use. It only adds to pages that already work without it. */
(() => {
  const root = document.documentElement;

  /* theme: the system's, the other one, then back by way of the system's own; the server reads the cookie */
  const changeTheme = button => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? ["dark", "light"] : ["light", "dark"];
    const order = ["", system[1], system[0]];
    const theme = order[(order.indexOf(root.dataset.theme ?? "") + 1) % order.length];
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `theme=${theme}; Path=/; Max-Age=${theme ? 31536000 : 0}; SameSite=Lax${secure}`;
    const { said, saidLight, saidDark } = button.dataset;
    button.setAttribute("aria-label", { light: saidLight, dark: saidDark }[theme] ?? said);
  };

  /* copy: outside https there is no clipboard, but the text beside the button selects as a whole */
  const copy = async button => {
    await navigator.clipboard.writeText(button.dataset.copy);
    const label = button.textContent;
    button.textContent = button.dataset.copied ?? "Copied";
    setTimeout(() => { button.textContent = label; }, 2000);
  };
  if (!navigator.clipboard) root.classList.add("no-clipboard");

  document.addEventListener("click", event => {
    const button = event.target.closest("[data-theme-toggle], [data-copy]");
    if (!button) return;
    if (button.matches("[data-copy]")) copy(button); else changeTheme(button);
  });

  /* moments: the server writes them in UTC, this in the reader's time zone, which the title names */
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }, day = { day: "numeric", month: "short" };
  const locale = root.lang === "en" ? "en-GB" : root.lang;
  const MOMENTS = { full: { ...day, year: "numeric", ...clock }, exact: { ...day, year: "numeric", ...clock, second: "2-digit" }, day: { ...day, ...clock }, time: clock };
  const writeMoments = () => {
    for (const time of document.querySelectorAll("time[data-moment]")) {
      time.title = `${timeZone}; ${time.textContent}`;
      time.textContent = new Date(time.dateTime).toLocaleString(locale, MOMENTS[time.dataset.moment]);
      delete time.dataset.moment;
    }
  };
  writeMoments();
  document.addEventListener("htmx:afterSettle", writeMoments);

  /* a file dropped anywhere on the drop area goes into its file input */
  for (const area of document.querySelectorAll("[data-drop]")) {
    const over = on => event => { event.preventDefault(); area.classList.toggle("is-over", on); };
    area.addEventListener("dragover", over(true));
    area.addEventListener("dragleave", over(false));
    area.addEventListener("drop", event => {
      over(false)(event);
      const input = area.querySelector("input[type=file]");
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }

  /* a file that is too large is refused before it is sent */
  document.addEventListener("change", event => {
    const { files, dataset } = event.target;
    if (!files || !dataset.maxBytes) return;
    const isTooLarge = files[0]?.size > Number(dataset.maxBytes);
    const most = Math.round(Number(dataset.maxBytes) / 2 ** 20);
    event.target.setCustomValidity(isTooLarge ? `This file is larger than ${most} MB.` : "");
    event.target.reportValidity();
  });

  /* the line that says folded values is made on the server: until it comes again, it says that they changed */
  document.addEventListener("change", event => {
    const said = event.target.closest("[data-folded]")?.querySelector(".folded-said");
    if (said) said.textContent = "changed";
  });

  /* a long menu, or a long list of boxes, gets a field that leaves what matches and what is chosen */
  const LONG = 15;
  const addFilter = list => {
    const isMenu = list.matches("select"), items = [...list.querySelectorAll(isMenu ? "option" : "label.choice")];
    if (items.length <= LONG || list.dataset.filtered) return;
    list.dataset.filtered = "on";
    const groups = [...list.querySelectorAll("optgroup, [data-group]")], wereOpen = groups.map(group => group.open);
    const titleOf = item => item.closest("optgroup")?.label ?? item.closest("[data-group]")?.firstElementChild.textContent ?? "";
    const input = document.createElement("input");
    Object.assign(input, { type: "search", placeholder: isMenu ? "Filter the menu" : "Filter the list", autocomplete: "off", className: "menu-filter" });
    input.setAttribute("aria-label", input.placeholder);
    input.addEventListener("input", () => {
      const words = input.value.normalize().toLowerCase().split(/\s+/).filter(Boolean);
      for (const item of items) {
        const text = `${titleOf(item)} ${item.textContent}`.normalize().toLowerCase();
        item.hidden = !words.every(word => text.includes(word)) && !(isMenu ? item.selected : item.control.checked);
        if (isMenu) item.disabled = item.hidden; // Safari lists hidden options
      }
      groups.forEach((group, place) => {
        group.hidden = items.every(item => item.hidden || !group.contains(item));
        if (group.matches("details")) group.open = words.length > 0 || wereOpen[place];
      });
    });
    input.addEventListener("change", event => event.stopPropagation()); // the form around it asks the server on a change
    input.addEventListener("keydown", event => { if (event.key === "Enter") event.preventDefault(); });
    if (isMenu) list.before(input); else list.querySelector("legend").after(input);
  };
  const addFilters = () => document.querySelectorAll("[data-filtered]").forEach(addFilter);
  addFilters();
  document.addEventListener("htmx:afterSettle", addFilters);

  /* an invalid form: go to its first error, on load and when htmx puts it in */
  const focusFirstError = () => document.querySelector('[aria-invalid="true"]')?.focus();
  focusFirstError();
  document.addEventListener("htmx:afterSettle", event => {
    event.detail.elt.querySelector('[aria-invalid="true"]')?.focus();
  });
})();
