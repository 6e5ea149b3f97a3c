/** Remembers what `make` gave for the keys used most recently, at most `limit` of them. */
export function remember<Key, Value>(limit: number, make: (key: Key) => Value): (key: Key) => Value {
  const results = new Map<Key, Value>();
  return (key) => {
    const known = results.get(key);
    const value = known ?? make(key);
    // Put back at the end: a Map keeps the order of insertion, so that its first key is the least recently used.
    if (known !== undefined) results.delete(key);
    results.set(key, value);
    const oldest = results.keys().next();
    if (results.size > limit && !oldest.done) results.delete(oldest.value);
    return value;
  };
}
