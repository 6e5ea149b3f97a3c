import { expect } from 'vitest';
import type { Relayed, Sponsorship } from '../src/relayer/relay.ts';
import type { PaymasterFixture } from './paymaster.ts';
import type { Fault } from './snip29-server.ts';
import { type TestWallet, transferCall } from './test-wallet.ts';

const BOB = 0xb0bn;
const EXECUTE = 'paymaster_executeTransaction';

export interface Payment {
  readonly wallet: TestWallet;
  readonly request: Sponsorship;
  send(): Promise<Relayed>;
  /** What has arrived. */
  paid(): Promise<bigint>;
  state(): Promise<string>;
}

export const pay = (amount: bigint) => [transferCall('USDC', BOB, amount)];
export const nothing = async () => {};

/** A wallet that is about to pay 3 units. */
export async function aPayment(fixture: PaymasterFixture): Promise<Payment> {
  const wallet = await fixture.wallet();
  const before = await fixture.balance(BOB);
  const request = await wallet.prepared(fixture.sponsor, pay(3n));
  return {
    wallet,
    request,
    send: () => fixture.sponsor.sponsor(request, nothing),
    paid: async () => (await fixture.balance(BOB)) - before,
    state: async () => (await fixture.relay(wallet)).state,
  };
}

export function order({ server }: PaymasterFixture, fault: Omit<Fault, 'method'>): void {
  server.order({ method: EXECUTE, ...fault });
}

/** How often the paymaster was asked to execute something. */
export const sendings = ({ server }: PaymasterFixture): number =>
  server.calls.filter((method) => method === EXECUTE).length;

export async function expectUnavailable(attempt: Promise<unknown>): Promise<void> {
  await expect(attempt).rejects.toMatchObject({ code: 'chain_unavailable' });
}

/** Time passes, and jobs run, until everything has ended that can. */
export async function finish(fixture: PaymasterFixture): Promise<void> {
  await fixture.rest();
  await fixture.runJobs();
  await fixture.runJobs();
}
