/** Browsers may refuse storage: choices are then kept for the visit alone. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Kept for this visit.
  }
}

export interface Choice<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

/** A choice of the reader, such as the language, that any component can read. */
export function choice<T extends string>(initial: T, changed: (value: T) => void): Choice<T> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    get: () => current,
    set: (value) => {
      current = value;
      changed(value);
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
