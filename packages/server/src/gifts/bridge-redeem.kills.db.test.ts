import { expect, it } from 'vitest';
import { dying, FAST_SHARE, Killed, useBridge } from '../../testing/bridge.ts';
import type { BridgeRedeemDeps } from './bridge-redeem.ts';

const fixture = useBridge();

function dyingDeps(steps: number, when: 'before' | 'after'): Partial<BridgeRedeemDeps> {
  const mortal = dying(steps, when);
  return { db: mortal(fixture.db), bridge: mortal(fixture.bridge), payer: mortal(fixture.payer) };
}

/** Runs a step and dies in it; another process then does it again. */
async function killed(id: string, steps: number, when: 'before' | 'after'): Promise<boolean> {
  try {
    await fixture.step(id, dyingDeps(steps, when));
    return false;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return true;
  } finally {
    await fixture.step(id);
  }
}

/** More than any step has. */
const MAX_STEPS = 14;

it.each(['before', 'after'] as const)(
  'a process that dies %s anything it does loses and doubles nothing',
  async (when) => {
    let kills = 0;
    for (let steps = 1; steps <= MAX_STEPS; steps += 1) {
      const { id, caller } = await fixture.redeem();
      const before = fixture.payer.orders.length;
      const died = [await killed(id, steps, when)];
      await fixture.executed(id);
      fixture.bridge.attest('FAILED');
      died.push(await killed(id, steps, when));
      fixture.bridge.attest('COMPLETE');
      died.push(await killed(id, steps, when));
      kills += died.filter((dead) => dead).length;
      expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS' });
      expect(fixture.payer.orders).toHaveLength(before + 1);
      expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
    }
    expect(kills).toBeGreaterThan(10);
  },
);
