import { selector, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Sandbox } from './sandbox.ts';
import { USDC } from './sandbox-client.ts';

/** As many as a page may have. */
const PAGE = 1_024;

export interface Paid {
  readonly hash: string;
  readonly to: bigint;
  readonly amount: bigint;
}

interface EventPage {
  readonly events: readonly { transaction_hash: string; keys: string[]; data: string[] }[];
  readonly continuation_token?: string;
}

/** Every USDC transfer of the manager that the chain has, burns included. */
export async function paidByManager(sandbox: Sandbox): Promise<Paid[]> {
  const { address } = await sandbox.account('manager');
  const filter = {
    address: USDC,
    keys: [[toHex(selector('Transfer'))], [address]],
    from_block: { block_number: 0 },
    to_block: 'latest',
    chunk_size: PAGE,
  };
  const all: Paid[] = [];
  let token: string | undefined;
  do {
    const { result } = await sandbox.rpc('getEvents', [{ ...filter, ...(token && { continuation_token: token }) }]);
    const page = result as EventPage;
    for (const { transaction_hash, keys, data } of page.events) {
      all.push({ hash: transaction_hash, to: BigInt(keys[2] ?? 0), amount: BigInt(data[0] ?? 0) });
    }
    token = page.continuation_token;
  } while (token !== undefined);
  return all;
}

export interface Minted {
  readonly owner: string;
  readonly amount: bigint;
}

/** Every mint on the sandbox's Solana. */
export function mintedOnSolana(db: Db): Promise<Minted[]> {
  return db.rows<Minted>(sql`
    select owner, amount::bigint as amount
      from sandbox.solana_transactions join sandbox.solana_accounts using (token_account)`);
}
