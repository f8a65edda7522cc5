// The levels of the computer, and opening a lobby to play against it. `levelsOf` is pure.

/** @typedef {import("../main.js").App} App */
/** @typedef {import("../wire/messages.js").GameList} GameList */
/** @typedef {import("../wire/messages.js").TimeControl} TimeControl */
/** @typedef {import("../wire/messages.js").LobbySettings} LobbySettings */
/** @typedef {NonNullable<LobbySettings["branch"]>} Branch */
/**
 * @typedef {object} Terms
 * @property {string} game
 * @property {number} seats
 * @property {number} level
 * @property {TimeControl} control
 * @property {number} [seat] this player's seat, by default the first
 * @property {Branch} [branch] the position to play from, by default the start of the game
 */

/**
 * Return the bots of a game's levels, weakest first; empty if it has none.
 * @param {GameList} list
 * @param {string} game
 * @param {number} seats
 * @returns {string[]}
 */
export function levelsOf(list, game, seats) {
  const levels = (list.bots ?? []).filter((bot) => bot.name.startsWith(`${game}/`)).flatMap((bot) =>
    (bot.levels ?? []).filter((line) => line.seats === seats).map(({ level, parameters }) =>
      ({ level, bot: parameters ? `${bot.name}:${parameters}` : bot.name })));
  return levels.sort((a, b) => a.level - b.level).map(({ bot }) => bot);
}

/**
 * Open a lobby for this player and the computer, take the seat, and return the lobby's key.
 * @param {App} app
 * @param {Terms} terms
 */
export async function playComputer(app, { level, ...terms }) {
  const { game, seats, seat = 0 } = terms;
  const bot = levelsOf(await app.games.list(), game, seats)[level - 1];
  const title = `${app.games.title(game)}, level ${level}`;
  return open(app, title, terms, (place) =>
    (place === seat ? mine(app) : { kind: "house", personality: bot }));
}

/**
 * Open a lobby that others join by its link, take a seat, and return the lobby's key.
 * @param {App} app
 * @param {Omit<Terms, "level">} terms
 */
export async function playFriends(app, terms) {
  const title = `${app.games.title(terms.game)} with ${app.connection.welcome?.name}`;
  return open(app, title, terms, (place) => (place === (terms.seat ?? 0) ? mine(app) : { kind: "open" }),
    { joinable: "invite", listed: false });
}

/** @param {App} app @returns {LobbySettings["seats"][number]} */
function mine(app) {
  return { kind: "reserved", name: app.connection.welcome?.name ?? "" };
}

/**
 * @param {App} app
 * @param {string} name
 * @param {Omit<Terms, "level">} terms
 * @param {(place: number) => LobbySettings["seats"][number]} seatOf
 * @param {Partial<LobbySettings>} [more]
 * @returns {Promise<string>}
 */
async function open(app, name, { game, seats, control, branch }, seatOf, more = {}) {
  const { connection } = app;
  await closeFinished(app);
  const { lobby } = await connection.request({
    type: "host", settings: {
      name: name.slice(0, 60),
      seats: Array.from({ length: seats }, (_, place) => seatOf(place)),
      programme: [{ game, seats, games: 1, rotate: false, time_control: control }],
      auto_start: true, branch, ...more,
    },
  });
  await connection.request({ type: "join", lobby });
  await connection.request({ type: "ready", lobby });
  return lobby;
}

/** Close this player's finished lobbies, so that their bots stop. @param {App} app */
async function closeFinished({ lobbies, connection }) {
  const mine = [...lobbies.views.values()].filter(({ host, state }) =>
    state === "finished" && host === connection.welcome?.player);
  await Promise.all(mine.map(({ lobby }) => connection.request({ type: "close", lobby }).catch(() => {})));
}
