import { createHash } from 'node:crypto';
import { type Db, sql } from '@svc/store';
import { encodeBase58 } from './base58.ts';
import type { Attestation, Burn } from './burns.ts';
import { slotAt } from './clock.ts';
import { readForwardHook } from './forward-hook.ts';
import { usdcTokenAccount } from './token-account.ts';

/** Credits the recipient on the sandbox's Solana with what is left after the fee. Answers the signature. */
export async function mint(tx: Db, burn: Burn, { feeExecuted, completedAt }: Attestation): Promise<string> {
  const hook = readForwardHook(burn.sent.hookData);
  if (hook.kind !== 'owner') throw new Error(`Burn ${burn.nonce} names no owner to mint for.`);
  const account = encodeBase58(usdcTokenAccount(hook.owner));
  const amount = burn.sent.amount - feeExecuted;
  const signature = signatureOf(burn.nonce);
  await tx.run(sql`
    insert into sandbox.solana_accounts (token_account, owner, balance)
    values (${account}, ${encodeBase58(hook.owner)}, ${amount})
    on conflict (token_account) do update set balance = sandbox.solana_accounts.balance + excluded.balance`);
  // A second mint of one nonce fails here and takes the credit above back with it.
  await tx.run(sql`
    insert into sandbox.solana_transactions (signature, nonce, token_account, amount, slot, block_time)
    values (${signature}, ${burn.nonce}, ${account}, ${amount}, ${slotAt(completedAt)}, ${completedAt})`);
  return signature;
}

/** 64 bytes, as long as a signature of Solana, that follow from the nonce. */
function signatureOf(nonce: string): string {
  return encodeBase58(createHash('sha512').update(`svc sandbox mint ${nonce}`).digest());
}
