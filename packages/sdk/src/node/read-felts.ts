import { parseFelt } from '@svc/starknet';

export function readFelt(value: unknown): bigint | undefined {
  const felt = typeof value === 'string' ? parseFelt(value) : undefined;
  return felt?.ok ? felt.value : undefined;
}

export function readFelts(value: unknown): bigint[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const felts = value.map(readFelt);
  return felts.every((felt) => felt !== undefined) ? felts : undefined;
}
