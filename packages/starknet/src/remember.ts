/**
 * Remembers what `make` gave for the inputs used most recently, at most `limit` of them. Inputs that are not the same value have the
 * same result when `keyOf` gives the same for them.
 */
export function remember<Input, Value>(
  limit: number,
  make: (input: Input) => Value,
  keyOf: (input: Input) => unknown = (input) => input,
): (input: Input) => Value {
  const results = new Map<unknown, Value>();
  return (input) => {
    const key = keyOf(input);
    const known = results.get(key);
    const value = known ?? make(input);
    // Put back at the end: a Map keeps the order of insertion, so that its first key is the least recently used.
    if (known !== undefined) results.delete(key);
    results.set(key, value);
    const oldest = results.keys().next();
    if (results.size > limit && !oldest.done) results.delete(oldest.value);
    return value;
  };
}
