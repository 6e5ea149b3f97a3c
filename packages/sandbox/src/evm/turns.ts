/** What a queue does not take any more. */
export class TooManyWaiting extends Error {
  override readonly name = 'TooManyWaiting';
}

/** One piece of work after another, in the order in which they came. */
export class Turns {
  readonly #most: number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(most: number) {
    this.#most = most;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#most) throw new TooManyWaiting('Too many requests wait for their turn.');
    this.#waiting += 1;
    const mine = this.#last.then(work);
    this.#last = mine.then(
      () => {},
      () => {},
    );
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }
}
