// Shared by the tests: the client's modules, and fakes of browser APIs that Node lacks.

globalThis.CustomEvent ??= class extends Event {
  constructor(type, options = {}) {
    super(type);
    this.detail = options.detail;
  }
};

export function use(path) {
  return import(`${process.env.KIBITZ_STATIC}/${path}`);
}
