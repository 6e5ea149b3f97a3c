/** Enough to hide a node's distance, few enough not to be taken for an attack. */
const AT_ONCE = 8;

/** Does the work for all items, a few at a time. */
export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await Promise.all(items.slice(start, start + AT_ONCE).map(work));
  }
}
