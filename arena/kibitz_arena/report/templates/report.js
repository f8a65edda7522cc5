(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("#games tbody tr")];
  const { one, two, odd } = form.elements;
  const show = () => {
    let count = 0;
    for (const row of rows) {
      const who = row.dataset.who.split(" ");
      const hit = [one, two].every((each) => !each.value || who.includes(each.value))
        && (!odd.checked || "odd" in row.dataset);
      row.hidden = !hit;
      count += hit;
    }
    document.getElementById("shown").textContent = `${count} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", show);
  window.addEventListener("pageshow", show);
  const quoted = (path) => /^[\w.\/-]+$/.test(path) ? path : `'${path.replace(/'/g, "'\\''")}'`;
  for (const button of navigator.clipboard ? document.querySelectorAll("#games button") : []) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const path = decodeURIComponent(button.closest("tr").querySelector("a").getAttribute("href"));
      await navigator.clipboard.writeText(`kibitz record replay ${quoted(path)}`);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
  }
})();
