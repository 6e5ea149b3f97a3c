import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { newId } from '../ids.ts';
import { generateKey, hashSecret, type KeyKind, keyPrefix } from './keys.ts';
import * as store from './store.ts';

export async function createOrganization(db: Db, name: string): Promise<string> {
  const id = newId('org');
  await store.insertOrganization(db, id, name);
  return id;
}

export interface IssuedKey {
  readonly id: string;
  readonly row: store.KeyRow;
  /** The whole key. A secret one is never seen again after this. */
  readonly value: string;
}

/** Makes a key, or takes the given value; a value that exists already is refused. */
export async function issueKey(
  db: Db,
  target: { organizationId: string; environment: Environment; kind: KeyKind },
  value: string = generateKey(target.kind, target.environment),
): Promise<IssuedKey> {
  const id = newId('key');
  const stored = await store.insertKey(db, {
    ...target,
    id,
    publicKey: target.kind === 'public' ? value : null,
    secretHash: target.kind === 'secret' ? hashSecret(value) : null,
    prefix: keyPrefix(target.kind, target.environment),
    lastFour: value.slice(-4),
  });
  const row = stored ? await store.findKey(db, id) : undefined;
  if (!row) throw new Error(`This ${target.kind} key exists already.`);
  return { id, row, value };
}
