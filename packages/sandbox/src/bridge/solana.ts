import { type SolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { advanceBurns } from './advance.ts';
import { encodeBase58 } from './base58.ts';
import { isOnCurve, usdcTokenAccount } from './token-account.ts';

export interface SolanaAccount {
  /** Unknown where the address is a token account that nothing was ever minted to. */
  readonly owner?: string;
  readonly tokenAccount: string;
  /** In the smallest unit of USDC. */
  readonly balance: string;
}

interface Row {
  readonly owner: string;
  readonly token_account: string;
  readonly balance: string;
}

/** The USDC of an owner or of a token account, with everything that is due by now. */
export async function readAccount(db: Db, address: SolanaAddress, now: number): Promise<SolanaAccount> {
  const bytes = solanaAddressBytes(address);
  const derived = encodeBase58(usdcTokenAccount(bytes));
  const candidates = [address, derived];
  await advanceBurns(db, waitingFor(candidates), now);
  const row = await db.one<Row>(sql`
    select owner, token_account, balance from sandbox.solana_accounts where token_account = any(${candidates})`);
  if (row) return { owner: row.owner, tokenAccount: row.token_account, balance: row.balance };
  // Nothing was minted for it yet, so its form must tell: token accounts are addresses that no key can sign for.
  return isOnCurve(bytes)
    ? { owner: address, tokenAccount: derived, balance: '0' }
    : { tokenAccount: address, balance: '0' };
}

export interface SolanaTransaction {
  readonly signature: string;
  readonly nonce: string;
  readonly owner: string;
  readonly tokenAccount: string;
  readonly amount: string;
  readonly slot: string;
  /** Unix seconds of the chain's time. */
  readonly blockTime: number;
}

/** A mint; there are no other transactions here. */
export async function readSolanaTransaction(db: Db, signature: string): Promise<SolanaTransaction | undefined> {
  const row = await db.one<Omit<SolanaTransaction, 'blockTime'> & { blockTime: bigint }>(sql`
    select t.signature, t.nonce, a.owner, t.token_account as "tokenAccount", t.amount, t.slot::text as slot,
           t.block_time as "blockTime"
      from sandbox.solana_transactions t join sandbox.solana_accounts a on a.token_account = t.token_account
     where t.signature = ${signature}`);
  return row && { ...row, blockTime: Number(row.blockTime) };
}

function waitingFor(tokenAccounts: readonly string[]) {
  return sql`m.mint_recipient = any(${tokenAccounts}) and m.forward_state is distinct from 'COMPLETE'`;
}
