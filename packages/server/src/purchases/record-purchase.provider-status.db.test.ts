import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { storePurchase } from '../../testing/stored-purchases.ts';
import type { Caller } from '../http/call.ts';
import type { Providers } from './provider.ts';
import { changePurchase } from './purchase.ts';
import { getProviderStatus } from './record-purchase.ts';

const database = useDatabase();
const configured = (() => ({})) as unknown as Providers;

async function newCaller(): Promise<Caller> {
  const owner = await newOwner(database.db(), { environment: 'development', credits: 1n });
  return { ...owner, keyId: 'key_1', apiPublicKey: 'pk_dev_1', proof: 'secret key', externalUserId: undefined };
}

const statusFor = (caller: Caller, providers = configured) => getProviderStatus(database.db(), providers, caller);

it('says when the provider last completed and failed, and what waits for it since when', async () => {
  const db = database.db();
  const caller = await newCaller();
  const [done, failed, waiting] = [
    await storePurchase(db, { ...caller, status: 'PROCESSING' }),
    await storePurchase(db, { ...caller, status: 'PROCESSING' }),
    await storePurchase(db, { ...caller, status: 'PROCESSING' }),
  ] as const;
  await storePurchase(db, { ...caller, status: 'PENDING' });
  await changePurchase(db, done, { status: 'SUCCESS', fileNumber: '1' });
  await changePurchase(db, failed, { status: 'FAILED', failureReason: 'No such number.', refundDue: true });
  const failedAt = (await statusFor(caller)).lastFailedAt;
  // A refund changes the purchase long after the provider failed.
  await db.run(sql`update transactions set updated_at = now() + interval '1 day' where id = ${failed}`);
  const paid = await db.one<{ at: Date }>(sql`select paid_at as at from sku_purchases where id = ${waiting}`);
  expect(failedAt).not.toBeNull();
  expect(await statusFor(caller)).toEqual({
    environment: 'development',
    configured: true,
    pending: 1,
    oldestPendingAt: paid?.at.toISOString(),
    lastCompletedAt: expect.any(String),
    lastFailedAt: failedAt,
    lastFailure: 'No such number.',
  });
});

it('knows nothing of other organisations and says where there is no provider', async () => {
  await storePurchase(database.db(), { ...(await newCaller()), status: 'PROCESSING' });
  expect(await statusFor(await newCaller(), () => undefined)).toEqual({
    environment: 'development',
    configured: false,
    pending: 0,
    oldestPendingAt: null,
    lastCompletedAt: null,
    lastFailedAt: null,
    lastFailure: null,
  });
});
