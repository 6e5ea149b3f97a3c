import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { startNameServer, startReceiver } from '../../testing/webhooks.ts';
import { publicOnly } from '../outbound/address-guard.ts';
import { outboundRequest } from '../outbound/request.ts';
import { createLookup } from './delivery-attempt.ts';

describe('looking a name up', () => {
  it('answers all of its addresses', async () => {
    const server = await startNameServer(() => ['8.8.8.8', '8.8.4.4']);
    expect((await createLookup([server])('hooks.example')).toSorted()).toEqual(['8.8.4.4', '8.8.8.8']);
  });

  it('fails for a name without one', async () => {
    const server = await startNameServer(() => []);
    await expect(createLookup([server])('hooks.example')).rejects.toThrow();
  });

  it('knows localhost without asking', async () => {
    const lookup = createLookup(['127.0.0.1:1']);
    for (const name of ['localhost', 'app.localhost', 'localhost.']) {
      expect(await lookup(name)).toEqual(['127.0.0.1', '::1']);
    }
  });

  it('of a silent name server holds up nothing else', async () => {
    const silent = await startNameServer(() => undefined);
    const lookup = createLookup([silent], 200);
    let failed = 0;
    const looks = Array.from({ length: 32 }, () => lookup('slow.example').catch(() => (failed += 1)));
    // Files are read by the threads that the system's own look-up would hold.
    expect(await readFile(import.meta.filename, 'utf8')).toContain('silent name server');
    expect(failed).toBe(0);
    await Promise.all(looks);
    expect(failed).toBe(32);
  });

  it('that changes its answer reaches what was checked, and nothing when it is not public', async () => {
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    let address = '127.0.0.1';
    const server = await startNameServer(() => [address]);
    const guard = publicOnly({ allowLoopback: true, lookup: createLookup([server]) });
    const get = () => outboundRequest(`http://rebind.example:${port}/`, { guard, timeoutMs: 5_000, maxBodyBytes: 100 });
    expect((await get()).status).toBe(204);
    for (address of ['10.0.0.1', '169.254.169.254', '0.0.0.0']) {
      await expect(get()).rejects.toMatchObject({ kind: 'forbidden_address' });
    }
    expect(receiver.received).toHaveLength(1);
  });
});
