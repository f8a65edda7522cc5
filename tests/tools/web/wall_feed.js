// A fake WebSocket that feeds PLAN.boards live matches to a page (tests/tools/wall_feed.py).

class FeedSocket extends EventTarget {
  readyState = 1;
  told = 0;
  matches = [];

  constructor() {
    super();
    globalThis.feed = this;
    setTimeout(() => this.onopen?.({}), 0);
  }

  close() {}

  send(text) {
    const message = JSON.parse(text);
    const done = { re: message.id, type: "done" };
    switch (message.type) {
      case "hello":
        return this.tell({
          re: message.id, type: "welcome", version: 1, player: "p", name: "screen", kind: "human",
          resume: "a-secret-for-coming-back", server: "feed", seats: [], lobbies: [],
          limits: { frame_bytes: 16384, messages_per_second: 1000, burst: 1000, lobbies: 4 },
        });
      case "list_games":
        return this.tell({ re: message.id, type: "games", games: PLAN.games, bots: [] });
      case "subscribe":
        this.tell(done);
        return this.tell(this.hall());
      case "wall":
        this.tell({ re: message.id, type: "walled", watching: message.matches, refused: [] });
        return this.watch(message.matches);
      default:
        return this.tell(done);
    }
  }

  hall() {
    const matches = [...Array(PLAN.boards).keys()].map((index) => {
      const { snapshot } = PLAN.courses[index % PLAN.courses.length];
      const { game, seats, lobby } = snapshot;
      return { match: `m${index}`, lobby, number: 1, game, seats, ply: 0, order: index + 1 };
    });
    return {
      type: "hall", lobbies: [], matches, finished: [], ladders: [],
      lobbies_in_all: 1, matches_in_all: matches.length,
    };
  }

  watch(matches) {
    const known = new Set(this.matches.map((each) => each.match));
    for (const match of matches) {
      if (known.has(match)) continue;
      const course = PLAN.courses[Number(match.slice(1)) % PLAN.courses.length];
      const started = { match, texts: texts(course, match), next: 0 };
      this.matches.push(started);
      this.step(started);
    }
    // Spread over time, like real matches.
    this.timers ??= setInterval(() => this.beat(), 10);
    this.begun ??= performance.now();
  }

  beat() {
    const due = ((performance.now() - this.begun) / 1000) * PLAN.eventsPerSecond;
    for (const [index, match] of this.matches.entries()) {
      const own = due + index / this.matches.length;
      while (match.next < own) this.step(match);
    }
  }

  step(match) {
    this.deliver(match.texts[match.next % match.texts.length]);
    match.next += 1;
    this.told += 1;
  }

  tell(message) {
    queueMicrotask(() => this.deliver(JSON.stringify(message)));
  }

  deliver(text) {
    this.onmessage?.({ data: text });
  }
}

function texts(course, match) {
  return [course.snapshot, ...course.events].map((message) => JSON.stringify({ ...message, match }));
}

globalThis.WebSocket = FeedSocket;
