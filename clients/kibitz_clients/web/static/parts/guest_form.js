// A form that signs in a guest: a suggested name that can be changed, and a button.

import { fill, h } from "./dom.js";
import { suggestedName } from "./names.js";
import { refusalText } from "./refusals.js";

/** @typedef {import("../main.js").App} App */

/** Make the field for a guest's name, with an explanation. */
export function nameField() {
  const input = h("input", {
    id: "name", name: "name", autocomplete: "nickname", maxlength: 32, required: true,
    "aria-describedby": "name-help", value: suggestedName(),
  });
  return {
    input,
    parts: [h("label", { for: "name" }, "Your name"), input,
      h("p", { id: "name-help", class: "muted small-text" },
        "Other players see it. This browser keeps you signed in.")],
  };
}

/**
 * @param {App} app
 * @param {{title: string, submit: string, then: () => Promise<unknown>}} options `then` runs after signing in
 */
export function guestForm(app, { title, submit, then }) {
  const { input, parts } = nameField();
  const trouble = h("p", { class: "trouble", role: "alert" });
  const form = h("form", { class: "card stack" },
    h("h2", null, title), parts, trouble, h("button", { class: "primary" }, submit));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    fill(trouble);
    signInAsGuest(app, input.value.trim()).then(then).catch((error) => fill(trouble, refusalText(error)));
  });
  return { form, input };
}

/**
 * Sign in with a name. If the server refuses, this remains a viewer and the promise rejects.
 * @param {App} app
 * @param {string} name
 */
export async function signInAsGuest(app, name) {
  try {
    await app.connection.signIn({ name });
    app.refusal = null;
  } catch (error) {
    await app.connection.signIn({}).catch(() => {});
    throw error;
  }
}
