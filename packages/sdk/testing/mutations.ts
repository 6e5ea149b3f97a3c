import fc from 'fast-check';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Step = string | number;

/** Values that parsers of typed data fail on: other forms of a number, wrong types, neighbours of bounds. */
const tricky: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    '',
    '0x',
    '0x0',
    '0',
    0,
    1,
    -1,
    1.5,
    '1',
    '2',
    null,
    true,
    [],
    {},
    'ANY_CALLER',
    'transfer',
    '0X1',
  ),
  fc.bigInt({ min: 0n, max: 2n ** 256n }).map((value) => `0x${value.toString(16)}`),
  fc.bigInt({ min: 0n, max: 2n ** 256n }).map(String),
  fc.jsonValue().map((value) => value as Json),
);

export function placesOf(value: Json, path: Step[] = []): Step[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner: [Step, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...inner.flatMap(([key, item]) => placesOf(item, [...path, key]))];
}

type Change = (value: Json, other: Json, pick: number) => Json | undefined;

/** Changes of one place; undefined removes it. */
const changes: Record<string, Change> = {
  replace: (_, other) => other,
  remove: () => undefined,
  respell: (value) => respell(value),
  double: (value) => (Array.isArray(value) ? [...value, ...value] : value),
  reverse: (value) => (Array.isArray(value) ? value.toReversed() : value),
  add: (value, other, pick) => {
    if (Array.isArray(value)) return value.toSpliced(pick % (value.length + 1), 0, other);
    return typeof value === 'object' && value !== null ? { ...value, extra: other } : value;
  },
};

function respell(value: Json): Json {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,60}$/.test(value)) return value;
  return `0x000${value.slice(2).toUpperCase()}`;
}

export function changeAt(
  value: Json,
  path: readonly Step[],
  change: (place: Json) => Json | undefined,
): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  const copy = structuredClone(value) as Record<Step, Json>;
  const changed = changeAt(copy[step] ?? null, rest, change);
  if (changed !== undefined) copy[step] = changed;
  else if (Array.isArray(copy)) copy.splice(Number(step), 1);
  else delete copy[step];
  return copy as Json;
}

export function mutated(value: Json): fc.Arbitrary<Json> {
  const mutation = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom(...Object.keys(changes)),
    other: tricky,
    pick: fc.nat(9),
  });
  return fc.array(mutation, { minLength: 1, maxLength: 3 }).map((mutations) =>
    mutations.reduce<Json>((current, { at, kind, other, pick }) => {
      const places = placesOf(current);
      const path = places[at % places.length] ?? [];
      return changeAt(current, path, (place) => changes[kind]?.(place, other, pick)) ?? null;
    }, value),
  );
}
