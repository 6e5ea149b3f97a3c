import { type Db, sql } from '@svc/store';
import { CLASS, CLASSES, NONCE } from './rows.ts';

export interface ShownStateDiff {
  readonly storage_diffs: { address: string; storage_entries: { key: string; value: string }[] }[];
  readonly deprecated_declared_classes: string[];
  readonly declared_classes: { class_hash: string; compiled_class_hash: string }[];
  readonly deployed_contracts: { address: string; class_hash: string }[];
  readonly replaced_classes: { contract_address: string; class_hash: string }[];
  readonly nonces: { contract_address: string; nonce: string }[];
}

export interface Change {
  readonly contract: string;
  readonly slot: string;
  readonly value: string;
  /** Whether the contract had a class before. */
  readonly existed: boolean;
}

/** What changed between two versions of the state. */
export async function changesBetween(db: Db, above: number, upTo: number): Promise<Change[]> {
  return db.rows<Change>(sql`
    select distinct on (s.contract, s.slot) s.contract, s.slot, s.value,
           s.slot = ${CLASS} and exists (
             select from sandbox.state before
              where before.contract = s.contract and before.slot = ${CLASS} and before.version <= ${above}) as existed
      from sandbox.state s where s.version > ${above} and s.version <= ${upTo}
     order by s.contract, s.slot, s.version desc`);
}

export function showStateDiff(changes: readonly Change[]): ShownStateDiff {
  const diff: ShownStateDiff = {
    storage_diffs: [],
    deprecated_declared_classes: [],
    declared_classes: [],
    deployed_contracts: [],
    replaced_classes: [],
    nonces: [],
  };
  const storage = new Map<string, { key: string; value: string }[]>();
  for (const { contract, slot, value, existed } of changes) {
    if (contract === CLASSES) diff.declared_classes.push({ class_hash: slot, compiled_class_hash: value });
    else if (slot === NONCE) diff.nonces.push({ contract_address: contract, nonce: value });
    else if (slot === CLASS && existed) diff.replaced_classes.push({ contract_address: contract, class_hash: value });
    else if (slot === CLASS) diff.deployed_contracts.push({ address: contract, class_hash: value });
    else {
      const entries = storage.get(contract) ?? [];
      entries.push({ key: slot, value });
      storage.set(contract, entries);
    }
  }
  for (const [address, storage_entries] of storage) diff.storage_diffs.push({ address, storage_entries });
  return diff;
}
