"""What the page of results wears and does: its style sheet and its script.

The page works without the script, which only filters the list of games and copies commands.
"""

from __future__ import annotations

from typing import Final

STEPS: Final = 5
"""Shades of a cell between an even score and a perfect one."""

_SHEET: Final = """
:root{color-scheme:light dark;--ground:#fdfcfa;--ink:#1c1e22;--soft:#5d636e;--line:#e3e0d9;
--head:#f5f3ee;--accent:#1f5fbf;--win:31 95 191;--loss:201 112 16;--warn:#a04a00}
@media(prefers-color-scheme:dark){:root{--ground:#15171b;--ink:#e8e6e1;--soft:#9aa1ad;
--line:#2c3038;--head:#1c1f25;--accent:#7db2ff;--win:90 150 255;--loss:240 150 50;--warn:#f0a860}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.5 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:3rem}
h1{margin:0;font-size:2.25rem;line-height:1.15;font-weight:700;letter-spacing:-.02em;
overflow-wrap:anywhere}
.lead{margin:.5rem 0 0;font-size:1.125rem;color:var(--soft);overflow-wrap:anywhere}
dl{display:flex;flex-wrap:wrap;gap:1rem 2.5rem;margin:1.75rem 0 0;padding:1rem 0;
border:solid var(--line);border-width:1px 0}
dt{font-size:.8125rem;color:var(--soft)}
dd{margin:0;font-weight:550;overflow-wrap:anywhere}
section{margin-top:3rem}
h2{margin:0;font-size:1.375rem;line-height:1.25;letter-spacing:-.01em}
p{margin:.25rem 0 0;max-width:52rem}
ul.notes{margin:1.25rem 0 0;padding-left:1.1rem;color:var(--soft);max-width:52rem}
.scroll{overflow-x:auto;margin-top:.25rem;max-width:100%}
.scroll:focus-visible,a:focus-visible,button:focus-visible,select:focus-visible{outline:2px solid
var(--accent);outline-offset:2px}
table{border-collapse:separate;border-spacing:0}
caption{text-align:left;color:var(--soft);padding:0 0 .75rem;max-width:52rem;position:sticky;left:0}
th,td{padding:.375rem .75rem;text-align:right;white-space:nowrap;font-weight:400;
border-bottom:1px solid var(--line)}
thead th{font-size:.8125rem;color:var(--soft);vertical-align:bottom;border-bottom-color:var(--soft)}
tbody th,thead th:first-child,tfoot th{text-align:left}
tbody th:first-child,thead th:first-child,tfoot th:first-child{position:sticky;left:0;z-index:1;
background:var(--ground);padding-left:0}
tbody tr:hover td,tbody tr:hover th{background:var(--head)}
tfoot td,tfoot th{border-bottom:0;font-weight:600}
td.l,th.l{text-align:left}
.name{font-weight:600}
.rank{display:inline-block;min-width:1.25rem;margin-right:.6rem;color:var(--soft);text-align:right;
font-weight:400}
.what{display:block;margin-left:1.85rem;max-width:17rem;overflow:hidden;text-overflow:ellipsis;
font-size:.8125rem;line-height:1.2;color:var(--soft);font-weight:400}
.rating{font-weight:650}
.place{display:inline-block;min-width:1rem;color:var(--soft);font-size:.875rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.soft{color:var(--soft)}
.odd{color:var(--warn)}
td.chart,th.chart{padding-top:0;padding-bottom:0}
td.chart{line-height:0;border-bottom-color:transparent}
.standings tbody th,.standings tbody td{height:45px;padding-top:0;padding-bottom:0}
svg{display:block}
svg text{font:12px ui-sans-serif,system-ui,sans-serif;fill:var(--soft);text-anchor:middle}
svg .from{text-anchor:start}svg .to{text-anchor:end}
.interval{overflow:visible}
.tick{stroke:var(--line)}.zero{stroke:var(--soft);stroke-dasharray:2 3}
.reach{stroke:var(--accent);stroke-width:2;fill:none}
.dot{fill:var(--accent);stroke:var(--ground);stroke-width:2}
.anchor{fill:var(--ground);stroke:var(--accent);stroke-width:2}
.gauge{max-width:100%;height:auto;margin-top:1rem}
.way{stroke:var(--line);stroke-width:6}.gone{stroke:var(--accent);stroke-width:6}
.mark{stroke:var(--soft)}
.square td{text-align:center;border:0;padding:.3rem .5rem;line-height:1.25;
border:1px solid var(--ground);border-radius:4px}
.square thead th:not(:first-child){text-align:center;padding-left:.2rem;padding-right:.2rem}
.head{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;
width:5.25rem;font-size:.78rem;white-space:normal;overflow-wrap:anywhere;line-height:1.2}
.square tbody th{border-bottom:0;padding-right:1.25rem}
.square tbody tr:hover td{background-color:initial}
.square small{display:block;font-size:.75rem;opacity:.8}
.filter{display:flex;flex-wrap:wrap;gap:.75rem 1.25rem;align-items:center;margin:.75rem 0 .5rem}
.filter[hidden]{display:none}
.filter label{display:flex;gap:.5rem;align-items:center}
select,button{font:inherit;color:inherit;background:var(--head);border:1px solid var(--line);
border-radius:6px}
select{padding:.3rem .5rem;max-width:14rem}
input[type=checkbox]{width:1.05rem;height:1.05rem;accent-color:var(--accent)}
button{padding:0 .5rem;font-size:.8125rem;color:var(--soft);cursor:pointer}
button:hover{color:var(--ink);border-color:var(--soft)}
a{color:var(--accent);text-underline-offset:2px}
code{font:.875em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.games th,.games td{padding-left:.5rem;padding-right:.5rem}
.games td{max-width:13rem;overflow:hidden;text-overflow:ellipsis}
.games .res{text-align:center;padding-left:0;padding-right:0}
.games td.end{min-width:10rem;max-width:18rem;white-space:normal;line-height:1.3}
.games td.replay{overflow:visible}
.many{font-size:.875rem}.many td{max-width:9rem}
footer{margin-top:3.5rem;padding-bottom:3rem;font-size:.8125rem;color:var(--soft)}
footer p{max-width:none;overflow-wrap:anywhere}
@media(max-width:40rem){header,main,footer{padding-left:1rem;padding-right:1rem}
header{padding-top:1.75rem}h1{font-size:1.75rem}section{margin-top:2.25rem}
dl{gap:.75rem 1.5rem}.what{display:none}th,td{padding-left:.5rem;padding-right:.5rem}
tbody th:first-child .name{display:inline-block;max-width:7.5rem;overflow:hidden;
text-overflow:ellipsis;vertical-align:bottom}
.rank{min-width:1rem;margin-right:.35rem}.games td{max-width:8.5rem}
tbody th:first-child,thead th:first-child{border-right:1px solid var(--line)}
caption{max-width:calc(100vw - 2rem);white-space:normal}}
@media print{.filter,button{display:none}section{break-inside:avoid-page}.scroll{overflow:visible}}
"""

_SHADES: Final = "".join(
    f".w{step}{{background:rgb(var(--win)/{0.085 * step:.3f})}}"
    f".l{step}{{background:rgb(var(--loss)/{0.085 * step:.3f})}}"
    for step in range(1, STEPS + 1)
)

STYLE: Final = f"{_SHEET.strip()}\n{_SHADES}"

SCRIPT: Final = """
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
  const quoted = (path) => /^[\\w.\\/-]+$/.test(path) ? path : `'${path.replace(/'/g, "'\\\\''")}'`;
  for (const button of navigator.clipboard ? document.querySelectorAll("#games button") : []) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const path = decodeURIComponent(button.closest("tr").querySelector("a").getAttribute("href"));
      await navigator.clipboard.writeText(`kibitz replay ${quoted(path)}`);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
  }
})();
""".strip()
