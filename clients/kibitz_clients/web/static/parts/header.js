// The header of every page: navigation, the player's name, and the connection state.

import { at } from "./address.js";
import { svg } from "../board/svg.js";
import { h, fill } from "./dom.js";

/** @typedef {import("../main.js").App} App */

const PLACES = /** @type {const} */ ([
  ["hall", "/", "Hall"],
  ["host", "/host", "Host"],
  ["ladder", "/ladder", "Ladder"],
  ["wall", "/wall", "Wall"],
]);
const STATES = {
  away: "connecting",
  greeting: "connecting",
  online: "connected",
  ended: "not connected",
};

/**
 * Fill the header; return a function to call with the current page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {(page: string) => void}
 */
export function header(root, app) {
  const { connection, theme } = app;
  const links = PLACES.map(([page, href, text]) => h("a", { href: at(href), "data-page": page }, text));
  const light = h("span", { class: "light", role: "img" });
  const who = h("span", { class: "who" });
  const signIn = h("button", { type: "button", class: "small", hidden: true }, "Sign in");
  const signOut = h("button", { type: "button", class: "quiet small", hidden: true }, "Sign out");
  const look = h("button", { type: "button", class: "quiet small" });
  fill(
    root,
    h("a", { class: "brand", href: at("/"), "aria-label": "kibitz home" }, logo(), "kibitz"),
    h("nav", { "aria-label": "Pages" }, links),
    h("div", { class: "corner" }, light, who, signIn, signOut, look),
  );

  const drawLook = () => {
    const other = theme.look === "dark" ? "light" : "dark";
    look.textContent = other === "light" ? "☀" : "☾";
    look.setAttribute("aria-label", `Switch to ${other} colors`);
    look.title = `Switch to ${other} colors`;
  };
  const drawWho = () => {
    const lost = connection.retryAt > 0;
    const text = lost ? "connection lost" : STATES[connection.state];
    light.dataset.state = lost ? "lost" : connection.state;
    light.setAttribute("aria-label", text);
    light.title = text;
    const viewer = connection.isViewer;
    who.textContent = who.title = viewer ? "" : (connection.welcome?.name ?? "");
    signIn.hidden = !connection.welcome?.viewer;
    signOut.hidden = viewer;
  };
  look.addEventListener("click", () => theme.toggle());
  theme.addEventListener("change", drawLook);
  connection.addEventListener("state", drawWho);
  signIn.addEventListener("click", () => void app.router.show("sign_in"));
  signOut.addEventListener("click", () => {
    const playing = app.matches.seated.length > 0;
    const question = "You have a seat in a running match and cannot return to it after signing out. Sign out?";
    if (playing && !confirm(question)) return;
    connection.signOut();
    history.pushState(null, "", at("/"));
    void app.enter();
  });
  drawLook();
  drawWho();
  return (page) => {
    for (const link of links) {
      if (link.dataset.page === page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
}

function logo() {
  const discs = [[7, 8, 1], [17, 8, 2], [12, 17, 6]];
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" },
    ...discs.map(([cx, cy, seat]) => svg("circle", { cx, cy, r: 4.4, class: `seat-${seat}` })));
}
