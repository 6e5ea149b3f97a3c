import { ApiError, type Transaction } from '@svc/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sandboxClient } from '../../testing/fake-client.ts';
import { type SandboxService, startSandboxService } from '../../testing/sandbox-service.ts';
import type { Client } from '../client/client.ts';
import { waitForPurchase } from './purchases.ts';

const purchase: Transaction = {
  id: 'buy_1',
  type: 'SKU_PURCHASE',
  chain: 'STARKNET',
  transactionHash: '0x1',
  senderAddress: '0x2',
  destinationAddress: '0x3',
  status: 'PENDING',
  createdAt: '2026-11-02T18:20:11.000Z',
  updatedAt: '2026-11-02T18:20:11.000Z',
  apiPublicKey: 'pk_dev_x',
};

describe('waitForPurchase', () => {
  const clock = { nowMs: 0 };
  let service: SandboxService;
  let client: Client;
  let statuses: string[];

  beforeAll(async () => {
    service = await startSandboxService({
      getSkuPurchase: ({ params }) => {
        if (params.id !== 'buy_1') throw new ApiError('purchase_not_found');
        return { ...purchase, status: statuses.shift() ?? 'PROCESSING' };
      },
    });
    client = sandboxClient(service, clock);
  });
  beforeEach(() => {
    clock.nowMs = 0;
  });
  afterAll(() => service.close());

  it.each(['SUCCESS', 'FAILED', 'CANCELLED'])('returns a purchase that ends as %s', async (end) => {
    statuses = ['PENDING', 'PROCESSING', end];
    expect(await waitForPurchase(client, { id: 'buy_1' })).toMatchObject({ status: end });
    expect(clock.nowMs).toBe(6_000);
  });

  it('throws a timeout if it does not end in time', async () => {
    statuses = [];
    await expect(waitForPurchase(client, { id: 'buy_1' })).rejects.toMatchObject({ code: 'timeout' });
    expect(clock.nowMs).toBe(300_000);
  });

  it('throws at once for an unknown purchase', async () => {
    await expect(waitForPurchase(client, { id: 'buy_2' })).rejects.toMatchObject({ code: 'purchase_not_found' });
    expect(clock.nowMs).toBe(0);
  });

  it.each([0, Number.NaN])('refuses to poll every %d ms', async (retryIntervalMs) => {
    const waiting = waitForPurchase(client, { id: 'buy_1', retryIntervalMs });
    await expect(waiting).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
