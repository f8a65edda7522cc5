// A token bucket that mirrors the server's for this connection, so that requests never exceed the
// limit. Pure.

export class Throttle {
  #tokens;
  #at;

  /**
   * @param {number} perSecond
   * @param {number} burst
   * @param {number} now milliseconds
   */
  constructor(perSecond, burst, now) {
    this.perMs = perSecond / 1000;
    this.capacity = Math.max(1, burst);
    this.#tokens = this.capacity;
    this.#at = now;
  }

  /**
   * Take the cost of a request and return 0, or return the milliseconds to wait first.
   * @param {number} cost
   * @param {number} now
   */
  take(cost, now) {
    this.#refill(now);
    const needed = Math.min(cost, this.capacity);
    if (this.#tokens < needed - 1e-9) return Math.ceil((needed - this.#tokens) / this.perMs);
    this.#tokens -= needed;
    return 0;
  }

  /**
   * Empty the bucket after a refusal: nothing is sent for `wait` milliseconds.
   * @param {number} wait
   * @param {number} now
   */
  drain(wait, now) {
    this.#refill(now);
    this.#tokens = 1 - wait * this.perMs;
  }

  /** @param {number} now */
  #refill(now) {
    this.#tokens = Math.min(this.capacity, this.#tokens + (now - this.#at) * this.perMs);
    this.#at = now;
  }
}
