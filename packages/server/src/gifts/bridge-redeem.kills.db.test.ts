import type { Database } from '@svc/store';
import { expect, it } from 'vitest';
import { type BridgeFixture, FAST_SHARE, useBridge } from '../../testing/bridge.ts';
import type { BridgeRedeemDeps } from './bridge-redeem.ts';

const fixture = useBridge();

class Killed extends Error {}

/** Lets so many things happen, then nothing more: the last one before or after it was done. */
function dyingDeps(of: BridgeFixture, stepsLeft: number, when: 'before' | 'after'): Partial<BridgeRedeemDeps> {
  let left = stepsLeft;
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (object, name) => {
        const found: unknown = Reflect.get(object, name, object);
        if (name === 'reads') return mortal(found as object);
        if (typeof found !== 'function') return found;
        return (...given: unknown[]) => {
          left -= 1;
          if (left < 0 || (left === 0 && when === 'before')) throw new Killed();
          const done: unknown = Reflect.apply(found, object, given);
          if (left > 0) return done;
          if (!(done instanceof Promise)) throw new Killed();
          return done.then(() => Promise.reject(new Killed()));
        };
      },
    });
  return { db: mortal<Database>(of.db), bridge: mortal(of.bridge), payer: mortal(of.payer) };
}

/** Runs a step and dies in it; another process then does it again. */
async function killed(id: string, steps: number, when: 'before' | 'after'): Promise<boolean> {
  try {
    await fixture.step(id, dyingDeps(fixture, steps, when));
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
