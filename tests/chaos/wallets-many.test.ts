import { sql } from '@svc/store';
import { afterEach, describe, expect, it } from 'vitest';
import { App, hashOf, Owner, transferOf } from '../support/app.ts';
import { auditRelays, settled } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { sized } from '../support/faults.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

const TRANSFERS = sized(500, 80);
const WALLETS = 10;
const MAX_TRIES = 50;
const SETTLE_MS = 240_000;

let service: TestService;
afterEach(() => service.stop());

async function payers(app: App, sandbox: Sandbox): Promise<Owner[]> {
  const owners = Array.from({ length: WALLETS }, () => new Owner());
  for (const [index, owner] of owners.entries()) {
    await app.createWallet(owner, `payer ${index}`);
    await sandbox.faucet(owner.address, 'USDC', '1');
  }
  return owners;
}

/** Repeats the request while the chain is slow, as a client does. */
async function insist(app: App, path: string, body: object): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await app.post(path, body);
    if (reply.status < 500 || tries === MAX_TRIES) return reply;
  }
}

describe(`${TRANSFERS} sponsored transfers at once`, () => {
  it.each([1, 4])(
    'through %i relayer accounts and two processes leave no gap and no double, and all end',
    async (relayers) => {
      service = await TestService.start({ SANDBOX_RELAYERS: String(relayers) });
      const apps = [new App(service.server), new App(await service.another())] as const;
      const sandbox = new Sandbox(service.server);
      const owners = await payers(apps[0], sandbox);
      const bodies = await Promise.all(
        Array.from({ length: TRANSFERS }, async (_, index) => {
          const owner = owners[index % WALLETS] as Owner;
          const message = await apps[0].prepare(owner.address, [transferOf(USDC, '0x500', 1n)]);
          return { publicKey: owner.address, typedData: message, userSignature: owner.sign(message) };
        }),
      );
      const replies = await Promise.all(
        bodies.map((body, index) =>
          insist(apps[index % 2 === 0 ? 0 : 1], '/transactions/execute-sponsored-transaction', body),
        ),
      );
      expect(new Set(replies.map(hashOf)).size).toBe(TRANSFERS);
      const { db } = service.database;
      await settled(db, SETTLE_MS);
      expect(await apps[1].balance('0x500', 'USDC')).toBe(BigInt(TRANSFERS));
      const statuses = await db.rows<object>(
        sql`select status, count(*)::integer as count from transactions where type = 'SEND' group by status`,
      );
      expect(statuses).toEqual([{ status: 'SUCCESS', count: TRANSFERS }]);
      const [used] = await db.rows<{ accounts: number }>(
        sql`select count(distinct account)::integer as accounts from relays`,
      );
      expect(used).toEqual({ accounts: relayers });
      await auditRelays(db, sandbox);
    },
    600_000,
  );
});
