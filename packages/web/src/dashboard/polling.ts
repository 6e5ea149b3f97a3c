import { useEffect, useRef } from 'react';

/** Calls `read` every so often while the page is visible. */
export function useEvery(ms: number, read: () => void, isOn = true): void {
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}

type Given<T> = { readonly [K in keyof T]?: T[K] | '' | undefined };

/** Filters without those that are empty. */
export const givenOf = <T extends object>(filters: Given<T>): T =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '' && value !== undefined)) as T;
