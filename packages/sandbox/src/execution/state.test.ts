import { describe, expect, it } from 'vitest';
import { ExecutionState } from './state.ts';
import type { StateReader } from './types.ts';

/** Every cell holds its own key; counts the reads. */
function counting() {
  const asked: bigint[] = [];
  const reader: StateReader = {
    async storageAt(_address, key) {
      asked.push(key);
      return key;
    },
    classHashAt: async () => 0n,
    nonceAt: async () => 4n,
    isDeclared: async (classHash) => classHash === 9n,
  };
  return { state: new ExecutionState(reader), asked };
}

describe('ExecutionState', () => {
  it('asks for each cell once', async () => {
    const { state, asked } = counting();
    expect([await state.storageAt(1n, 7n), await state.storageAt(1n, 7n)]).toEqual([7n, 7n]);
    await state.setStorage(1n, 7n, 8n);
    expect(await state.storageAt(1n, 7n)).toBe(8n);
    expect(asked).toEqual([7n]);
  });

  it('goes back to a mark and no further', async () => {
    const { state } = counting();
    await state.setStorage(1n, 7n, 70n);
    const outer = state.mark();
    await state.setStorage(1n, 7n, 71n);
    const inner = state.mark();
    await state.setStorage(1n, 7n, 72n);
    await state.setNonce(1n, 5n);
    await state.setClassHash(1n, 6n);
    state.declare(8n);
    state.rollback(inner);
    expect(await state.storageAt(1n, 7n)).toBe(71n);
    expect(await state.nonceAt(1n)).toBe(4n);
    expect(await state.classHashAt(1n)).toBe(0n);
    expect(await state.isDeclared(8n)).toBe(false);
    expect(await state.isDeclared(9n)).toBe(true);
    state.rollback(outer);
    expect(await state.storageAt(1n, 7n)).toBe(70n);
  });

  it('shows in its diff only what is different in the end', async () => {
    const { state } = counting();
    await state.setStorage(1n, 7n, 70n);
    await state.setStorage(1n, 7n, 7n);
    await state.setStorage(2n, 3n, 30n);
    await state.storageAt(3n, 3n);
    await state.setNonce(1n, 5n);
    const { storage, nonces, classHashes, declared } = state.diff();
    expect([...storage].map(([address, cells]) => [address, [...cells]])).toEqual([[2n, [[3n, 30n]]]]);
    expect([...nonces]).toEqual([[1n, 5n]]);
    expect(classHashes.size + declared.size).toBe(0);
  });
});
