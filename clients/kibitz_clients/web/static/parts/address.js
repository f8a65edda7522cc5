// Addresses of this server's pages. A proxy may serve them below a path of its own, such as
// `/kibitz/`, that the server knows nothing of: paths of the application, such as `/match/m1`, are
// the same everywhere, and this module alone knows where they are. Every file is at
// `<root>/static/<digest>/...`, so that the address of a module tells the root.

/**
 * Return the root of a server's pages, with a slash at its end.
 * @param {string} module the address of a file in the folder `parts`
 */
export function rootOf(module) {
  return new URL("../../../", module);
}

const ROOT = rootOf(import.meta.url);

/**
 * Return where a path of the application is, for links: `/match/m1` is at `/kibitz/match/m1`.
 * @param {string} path
 * @param {URL} [root]
 */
export function at(path, root = ROOT) {
  return root.pathname + path.slice(1);
}

/**
 * Return the whole address of a path of the application, for people to pass on.
 * @param {string} path
 * @param {URL} [root]
 */
export function link(path, root = ROOT) {
  return root.origin + at(path, root);
}

/**
 * Return the path of the application that is at a place, "" where none is.
 * @param {string} place such as `location.pathname`
 * @param {URL} [root]
 */
export function pathAt(place, root = ROOT) {
  return place.startsWith(root.pathname) ? place.slice(root.pathname.length - 1) : "";
}

/** Return the path of the application that is shown. */
export function here() {
  return pathAt(location.pathname);
}

/**
 * Return the address of the server as clients outside of the browser take it.
 * @param {URL} [root]
 */
export function serverAddress(root = ROOT) {
  return (root.pathname === "/" ? root.origin : root.href).replace(/^http/, "ws");
}

/**
 * Return where the websocket of the server is.
 * @param {URL} [root]
 */
export function websocketAddress(root = ROOT) {
  return `${root.href.replace(/^http/, "ws")}ws`;
}
