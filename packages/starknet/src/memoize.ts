/** LRU cache of `make`, at most `limit` entries. `keyOf` maps equal inputs to one key. */
export function memoize<Input, Value>(
  limit: number,
  make: (input: Input) => Value,
  keyOf: (input: Input) => unknown = (input) => input,
): (input: Input) => Value {
  const results = new Map<unknown, Value>();
  return (input) => {
    const key = keyOf(input);
    const known = results.get(key);
    const value = known ?? make(input);
    // Reinserted: the first key of a Map is the least recently used.
    if (known !== undefined) results.delete(key);
    results.set(key, value);
    const oldest = results.keys().next();
    if (results.size > limit && !oldest.done) results.delete(oldest.value);
    return value;
  };
}
