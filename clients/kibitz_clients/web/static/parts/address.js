// Addresses of this server's pages. A proxy may serve them below a prefix that the server does not
// know, such as `/kibitz/`. The application uses the same paths everywhere, such as `/match/m1`,
// and only this module adds the prefix. Every file is at `<root>/static/<digest>/...`, so the root
// follows from a module's address.

/**
 * Return the root of a server's pages, with a trailing slash.
 * @param {string} module the address of a file in the folder `parts`
 */
export function rootOf(module) {
  return new URL("../../../", module);
}

const ROOT = rootOf(import.meta.url);

/**
 * Return the address of an application path, for links: `/match/m1` is at `/kibitz/match/m1`.
 * @param {string} path
 * @param {URL} [root]
 */
export function at(path, root = ROOT) {
  return root.pathname + path.slice(1);
}

/**
 * Return the full address of an application path, for people to share.
 * @param {string} path
 * @param {URL} [root]
 */
export function link(path, root = ROOT) {
  return root.origin + at(path, root);
}

/**
 * Return the application path of a URL path, "" if it is outside the root.
 * @param {string} place such as `location.pathname`
 * @param {URL} [root]
 */
export function pathAt(place, root = ROOT) {
  return place.startsWith(root.pathname) ? place.slice(root.pathname.length - 1) : "";
}

/** Return the application path that is shown. */
export function here() {
  return pathAt(location.pathname);
}

/**
 * Return the server address for clients outside the browser.
 * @param {URL} [root]
 */
export function serverAddress(root = ROOT) {
  return (root.pathname === "/" ? root.origin : root.href).replace(/^http/, "ws");
}

/**
 * Return the address of the server's websocket.
 * @param {URL} [root]
 */
export function websocketAddress(root = ROOT) {
  return `${root.href.replace(/^http/, "ws")}ws`;
}
