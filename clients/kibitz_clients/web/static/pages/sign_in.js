// Signing in: a guest chooses a name, the owner of an account pastes a token or opens its link.

import { here } from "../parts/address.js";
import { h, fill } from "../parts/dom.js";
import { Refusal } from "../wire/connection.js";

/** @typedef {import("../main.js").App} App */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export async function show(root, app) {
  document.title = "Sign in - kibitz";
  const name = h("input", {
    id: "name", name: "name", autocomplete: "nickname", maxlength: 32, required: true,
    "aria-describedby": "name-help", placeholder: "ada",
  });
  const token = h("input", {
    id: "token", name: "token", type: "password", autocomplete: "current-password", minlength: 8,
  });
  const trouble = h("p", { class: "trouble", role: "alert" });
  const byName = h(
    "form", { class: "card stack" },
    h("h2", null, "Guest"),
    h("label", { for: "name" }, "Your name"),
    name,
    h("p", { id: "name-help", class: "muted" }, "Other players see it. This browser keeps you signed in."),
    h("button", { class: "primary" }, "Play as guest"),
  );
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
    h("p", { class: "lead" }, "Play against bots and people, host a lobby, or watch live matches."),
    trouble,
    h("div", { class: "pair" }, byName, byToken),
  );
  if (app.refusal) fill(trouble, explain(app.refusal));

  /** @param {import("../wire/connection.js").Credentials} who */
  const enter = async (who) => {
    fill(trouble);
    try {
      await app.connection.signIn(who);
      app.refusal = null;
      await app.router.show(here() === "/sign-in" ? "hall" : undefined);
    } catch (error) {
      fill(trouble, error instanceof Refusal ? explain(error) : String(error));
    }
  };
  byName.addEventListener("submit", (event) => {
    event.preventDefault();
    void enter({ name: name.value.trim() });
  });
  byToken.addEventListener("submit", (event) => {
    event.preventDefault();
    void enter({ token: tokenIn(token.value) });
  });
  name.focus();
}

/**
 * Return the token in what was pasted: itself, or the link that has it.
 * @param {string} text
 */
export function tokenIn(text) {
  const link = /#(?:.*&)?token=([^&]+)/.exec(text);
  return link ? decodeURIComponent(link[1]) : text.trim();
}

/** @param {Refusal} refusal */
function explain(refusal) {
  return refusal.hint ? `${refusal.message} (${refusal.hint})` : refusal.message;
}
