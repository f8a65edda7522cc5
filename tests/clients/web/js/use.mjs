// What the tests share: the client's modules, and pieces that a browser has and Node has not.

globalThis.CustomEvent ??= class extends Event {
  constructor(type, options = {}) {
    super(type);
    this.detail = options.detail;
  }
};

export function use(path) {
  return import(`${process.env.KIBITZ_STATIC}/${path}`);
}
