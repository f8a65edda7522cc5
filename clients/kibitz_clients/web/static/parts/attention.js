// Alerts a player to their turn: by a sound, and by a notification if the page is in the
// background. Both are off by default.

import { h } from "./dom.js";

/** @typedef {import("./theme.js").Store} Store */

const KEYS = { notify: "kibitz.notify", sound: "kibitz.sound" };
const TONE_HZ = 660;
const TONE_S = 0.15;

export class Attention {
  /** @param {Store} store stores the choices */
  constructor(store) {
    this.store = store;
    const notify = this.#switch("notify", "Notify me", () => askToNotify());
    const sound = this.#switch("sound", "Sound", async () => tone());
    this.root = h("div", { class: "row attention", role: "group", "aria-label": "When it is your turn" },
      "Notification" in window && notify, sound);
  }

  /**
   * Alert the player to their turn.
   * @param {string} title
   */
  call(title) {
    if (this.#is("sound")) void tone();
    if (!this.#is("notify") || !document.hidden || Notification.permission !== "granted") return;
    const note = new Notification(title, { body: "It is your turn.", tag: location.pathname });
    note.onclick = () => {
      window.focus();
      note.close();
    };
  }

  /** @param {keyof KEYS} what */
  #is(what) {
    return this.store.getItem(KEYS[what]) === "on";
  }

  /**
   * @param {keyof KEYS} what
   * @param {string} text
   * @param {() => Promise<unknown>} turnOn resolves to false if that is impossible
   */
  #switch(what, text, turnOn) {
    const button = h("button", { type: "button", class: "small", "aria-pressed": String(this.#is(what)) }, text);
    button.addEventListener("click", async () => {
      const on = !this.#is(what) && (await turnOn()) !== false;
      this.store.setItem(KEYS[what], on ? "on" : "off");
      button.setAttribute("aria-pressed", String(on));
    });
    return button;
  }
}

async function askToNotify() {
  return (await Notification.requestPermission()) === "granted";
}

/** @type {AudioContext | null} created on first use, because browsers require a click before */
let audio = null;

async function tone() {
  audio ??= new AudioContext();
  await audio.resume();
  const [source, volume] = [audio.createOscillator(), audio.createGain()];
  source.frequency.value = TONE_HZ;
  volume.gain.setValueAtTime(0.1, audio.currentTime);
  volume.gain.linearRampToValueAtTime(0, audio.currentTime + TONE_S);
  source.connect(volume).connect(audio.destination);
  source.start();
  source.stop(audio.currentTime + TONE_S);
}
