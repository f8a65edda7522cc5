// Signing in: guests choose a name, account owners paste a token or open a sign-in link.

import { here } from "../parts/address.js";
import { h, fill } from "../parts/dom.js";
import { guestForm } from "../parts/guest_form.js";
import { refusalText } from "../parts/refusals.js";

/** @typedef {import("../main.js").App} App */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Sign in - kibitz";
  const onwards = () => app.router.show(here() === "/sign-in" ? "hall" : undefined);
  const guest = guestForm(app, { title: "Guest", submit: "Play as guest", then: onwards });
  const token = h("input", {
    id: "token", name: "token", type: "password", autocomplete: "current-password", minlength: 8,
  });
  const trouble = h("p", { class: "trouble", role: "alert" });
  const byToken = h(
    "form", { class: "card stack" },
    h("h2", null, "Account"),
    h("label", { for: "token" }, "Token or sign-in link"),
    token,
    h("p", { class: "muted" }, "The operator creates one: ", h("code", null, "kibitz token new NAME --link")),
    h("button", null, "Sign in"),
  );
  fill(
    root,
    h("h1", null, "Sign in"),
    h("p", { class: "lead" }, "Play against bots and people, or host a lobby."),
    trouble,
    h("div", { class: "pair" }, guest.form, byToken),
  );
  if (app.refusal) fill(trouble, refusalText(app.refusal));
  byToken.addEventListener("submit", (event) => {
    event.preventDefault();
    fill(trouble);
    app.connection.signIn({ token: tokenIn(token.value) }).then(() => {
      app.refusal = null;
      return onwards();
    }).catch((error) => fill(trouble, refusalText(error)));
  });
  guest.input.focus();
  guest.input.select();
}

/**
 * Return the token in the pasted text: either the token itself or a sign-in link with it.
 * @param {string} text
 */
export function tokenIn(text) {
  const link = /#(?:.*&)?token=([^&]+)/.exec(text);
  return link ? decodeURIComponent(link[1]) : text.trim();
}
