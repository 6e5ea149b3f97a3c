import { randomBytes } from 'node:crypto';
import { sql } from '@svc/store';
import { padAddress } from '../../packages/server/src/chains/starknet/chain.ts';
import { settle } from '../../packages/server/src/ledger/ledger.ts';
import { newId } from '../../packages/server/src/util/ids.ts';
import type { AnyService } from './service.ts';

/** `npm run admin` on the service's database, without a process of its own. */
export async function admin<T>(service: AnyService, ...words: string[]): Promise<T> {
  const { administer } = await import('../../packages/server/src/admin.ts');
  return JSON.parse(await administer(words, { DATABASE_URL: service.database.url })) as T;
}

const newHash = () => `0x${randomBytes(31).toString('hex').replace(/^0+/, '')}`;

/** Paid in production, where no provider is configured: nothing ends it by itself. */
export const stuckPurchase = (service: AnyService, status: 'PENDING' | 'PROCESSING' = 'PROCESSING'): Promise<string> =>
  service.purchase({ status, environment: 'production', isOrdered: false, ageMinutes: 20 });

const SOLANA_ADDRESS = '7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv';

/** Burned on Starknet in a transaction that the bridge does not know, and given up. */
export async function stuckRedeem(service: AnyService): Promise<string> {
  const gift = await service.gift({ amount: 5, maxRedeems: 1 });
  const id = newId('rdm');
  const burnedAt = new Date(Date.now() - 3_600_000).toISOString();
  const facts = { sender: '0xa11ce', maxFee: '0', fast: true, burnedAt, since: burnedAt };
  await service.db.tx(async (tx) => {
    const row = await tx.one<{ hold: string; organization: string }>(sql`
      update gifts set total_redeems = total_redeems + 1 where id = ${gift.id}
      returning hold_id as hold, organization_id as organization`);
    const { hold = '', organization = '' } = row ?? {};
    await tx.run(sql`
      insert into gift_redeems (id, gift_id, organization_id, environment, destination_chain, address, shown_address,
        amount_micros, share_micros, hold_id, status, transaction_hash, bridge, reason)
      values (${id}, ${gift.id}, ${organization}, 'development', 'solana', ${SOLANA_ADDRESS}, ${SOLANA_ADDRESS}, 5000000,
        5000000, ${hold}, 'FAILED', ${newHash()}, ${JSON.stringify(facts)}::jsonb, 'The bridge did not attest it in time.')`);
    await settle(tx, { holdId: hold, amount: 5_000_000n, reference: id });
  });
  return id;
}

/** A nonce of a relayer account that a transaction used which the database does not know. Payments of the manager go on. */
export async function unknownNonce(service: AnyService): Promise<{ account: string; nonce: string }> {
  const { address } = await service.sandbox.account('relayer 1');
  const account = padAddress(BigInt(address));
  const nonce = String(900_000 + Math.floor(Math.random() * 90_000));
  await service.db.run(sql`
    insert into unknown_nonces (chain_id, account, nonce)
    select chain_id, address, ${nonce}::bigint from relayer_accounts where address = ${account}`);
  return { account, nonce };
}

export async function failedJob(service: AnyService): Promise<string> {
  const row = await service.db.one<{ id: string }>(sql`
    insert into jobs (task, payload, run_at, attempt, max_attempts, last_error, failed_at, tenant)
    values ('forget-rate-windows', '{}', now(), 3, 3, 'connect ECONNREFUSED', now(), ${service.server.credentials.organizationId})
    returning id::text`);
  return row?.id ?? '';
}
