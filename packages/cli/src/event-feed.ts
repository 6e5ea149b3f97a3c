import type { EventType, SvcEvent } from '@svc/sdk';

/** A page of events, newest first. */
export type ReadEvents = (page: number) => Promise<readonly SvcEvent[]>;

export const FEED_PAGE = 100;
/** A thousand events between two looks; more are skipped rather than read without an end. */
const MAX_PAGES = 10;
const MAX_SEEN = 10_000;

/**
 * Follows the list of events. Identifiers are made before their transaction commits, so an event can appear below a
 * newer one: each look compares whole pages with what was seen, instead of asking for what is above the last one.
 */
export class EventFeed {
  readonly #read: ReadEvents;
  readonly #types: ReadonlySet<EventType> | undefined;
  #seen = new Set<string>();

  constructor(read: ReadEvents, types?: readonly EventType[]) {
    this.#read = read;
    this.#types = types && types.length > 0 ? new Set(types) : undefined;
  }

  /** Events of before are not new. */
  async begin(): Promise<void> {
    for (const { id } of await this.#read(1)) this.#seen.add(id);
  }

  /** What is new, oldest first, and each once. */
  async look(): Promise<SvcEvent[]> {
    const found: SvcEvent[] = [];
    for (let page = 1; page <= MAX_PAGES; page++) {
      const events = await this.#read(page);
      const unseen = events.filter(({ id }) => !this.#seen.has(id));
      found.push(...unseen);
      for (const { id } of unseen) this.#seen.add(id);
      if (unseen.length < events.length || events.length < FEED_PAGE) break;
    }
    if (this.#seen.size > MAX_SEEN) this.#seen = new Set([...this.#seen].slice(-MAX_SEEN / 2));
    found.sort((one, other) => (one.id < other.id ? -1 : 1));
    return found.filter(({ type }) => this.#types?.has(type) ?? true);
  }
}
