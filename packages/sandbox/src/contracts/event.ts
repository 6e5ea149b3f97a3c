import { selector } from '@svc/starknet';
import type { Codec } from './codec.ts';
import type { Frame } from './frame.ts';

export interface EventDefinition {
  readonly name: string;
  readonly members: readonly { readonly name: string; readonly kind: 'key' | 'data'; readonly codec: Codec<unknown> }[];
}

interface KeyField<T> {
  readonly key: Codec<T>;
}

/** An indexed member of an event. */
export function key<T>(codec: Codec<T>): KeyField<T> {
  return { key: codec };
}

type EventFields = Readonly<Record<string, Codec<unknown> | KeyField<unknown>>>;
type EventValue<C> = C extends KeyField<infer T> ? T : C extends Codec<infer T> ? T : never;
type EventValues<F extends EventFields> = { readonly [K in keyof F]: EventValue<F[K]> };

export interface ContractEvent<F extends EventFields> extends EventDefinition {
  emit(frame: Frame, values: EventValues<F>): void;
}

/** Keys are the selector of the name and the indexed members; the rest is data. */
export function event<F extends EventFields>(name: string, fields: F): ContractEvent<F> {
  const members = Object.entries(fields).map(([field, codec]) =>
    'key' in codec
      ? { name: field, kind: 'key' as const, codec: codec.key }
      : { name: field, kind: 'data' as const, codec },
  );
  const felts = (values: EventValues<F>, kind: 'key' | 'data') =>
    members.filter((member) => member.kind === kind).flatMap((member) => member.codec.write(values[member.name]));
  return {
    name,
    members,
    emit: (frame, values) => frame.emit([selector(name), ...felts(values, 'key')], felts(values, 'data')),
  };
}
