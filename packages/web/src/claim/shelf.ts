import type { Shelf } from './kept-redeem.ts';

/** The browser's own memory, or, where it has none for us (a private window, a full disk), that of this page alone. */
export function openShelf(open: () => Shelf): Shelf {
  const memory = new Map<string, string>();
  const attempt = <T>(use: (shelf: Shelf) => T, otherwise: () => T): T => {
    try {
      return use(open());
    } catch {
      return otherwise();
    }
  };
  return {
    getItem: (name) =>
      memory.get(name) ??
      attempt(
        (shelf) => shelf.getItem(name),
        () => null,
      ),
    setItem: (name, value) =>
      attempt(
        (shelf) => {
          shelf.setItem(name, value);
          memory.delete(name);
        },
        () => void memory.set(name, value),
      ),
    removeItem: (name) => {
      memory.delete(name);
      attempt(
        (shelf) => shelf.removeItem(name),
        () => undefined,
      );
    },
  };
}
