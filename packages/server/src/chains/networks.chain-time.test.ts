import { describe, expect, it } from 'vitest';
import { chainTime } from './networks.ts';

const NOON = Date.UTC(2026, 10, 2, 12);

function chainAt(timestamps: number[]) {
  const asked: unknown[] = [];
  const chain = {
    block: async (at: unknown) => {
      asked.push(at);
      const timestamp = new Date(timestamps[asked.length - 1] ?? 0);
      return { number: 7, hash: 1n, parentHash: 0n, timestamp };
    },
  };
  return { chain, asked };
}

describe('the time of a chain', () => {
  it('is our own where the latest block is old', async () => {
    const { chain } = chainAt([NOON - 3_600_000]);
    expect(await chainTime(chain, () => NOON)()).toEqual(new Date(NOON));
  });

  it("is the latest block's where that is ahead of our clock, and goes on from there", async () => {
    const { chain } = chainAt([NOON + 86_400_000]);
    let now = NOON;
    const time = chainTime(chain, () => now);
    expect(await time()).toEqual(new Date(NOON + 86_400_000));
    now += 999;
    expect(await time()).toEqual(new Date(NOON + 86_400_999));
  });

  it('is asked for once a second at most', async () => {
    const { chain, asked } = chainAt([NOON, NOON + 60_000]);
    let now = NOON;
    const time = chainTime(chain, () => now);
    await Promise.all([time(), time()]);
    expect(asked).toHaveLength(1);
    now += 1_000;
    expect(await time()).toEqual(new Date(NOON + 60_000));
  });

  it('is asked for again after a node did not answer', async () => {
    let fails = true;
    const chain = {
      block: async () => {
        if (fails) throw new Error('no node answers');
        return undefined;
      },
    };
    const time = chainTime(chain, () => NOON);
    await expect(time()).rejects.toThrow('no node answers');
    fails = false;
    expect(await time()).toEqual(new Date(NOON));
  });
});
