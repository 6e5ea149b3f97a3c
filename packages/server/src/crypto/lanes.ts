/** Some seconds of work in each lane: whoever came later would have gone away before the answer. */
export const MAX_WAITING = 2_000;

export type Lane = 'urgent' | 'ordinary';

/** What waits: the urgent first, otherwise in order. The lanes have a bound each, so a flood in one leaves the other open. */
export class Lanes<Item> {
  readonly #lanes: Record<Lane, Item[]> = { urgent: [], ordinary: [] };

  get size(): number {
    return this.#lanes.urgent.length + this.#lanes.ordinary.length;
  }

  /** False when the lane is full. */
  add(lane: Lane, item: Item): boolean {
    if (this.#lanes[lane].length >= MAX_WAITING) return false;
    this.#lanes[lane].push(item);
    return true;
  }

  next(): Item | undefined {
    return this.#lanes.urgent.shift() ?? this.#lanes.ordinary.shift();
  }

  /** Everything that waits, which then waits no longer. */
  clear(): Item[] {
    return [...this.#lanes.urgent.splice(0), ...this.#lanes.ordinary.splice(0)];
  }
}
