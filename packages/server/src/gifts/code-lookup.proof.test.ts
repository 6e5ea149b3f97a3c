import { solveProof } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { ClaimProofs } from './code-lookup.ts';

const key = Buffer.alloc(32, 7);
const EASY = 4;
const proofs = (now = () => 0) => new ClaimProofs(key, EASY, now);
const flip = (text: string, index: number) =>
  text.slice(0, index) + (text[index] === '1' ? '2' : '1') + text.slice(index + 1);

describe('a proof of work', () => {
  it('that the client library solved is accepted by every replica, under the same id', async () => {
    const [one, other] = [proofs(), proofs()];
    const challenge = one.issue();
    const proof = await solveProof(challenge);
    const solved = await one.check(proof);
    expect(solved).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), expiresAt: challenge.expiresAt });
    expect(await other.check(proof)).toEqual(solved);
  });

  it('has another id for every challenge', async () => {
    const solved = await Promise.all([1, 2, 3].map(async () => proofs().check(await solveProof(proofs().issue()))));
    expect(new Set(solved.map((each) => each?.id)).size).toBe(3);
  });

  it('is worth nothing after its time', async () => {
    let now = 0;
    const timed = proofs(() => now);
    const proof = await solveProof(timed.issue());
    now = 299_999;
    expect(await timed.check(proof)).toBeDefined();
    now = 300_000;
    expect(await timed.check(proof)).toBeUndefined();
  });

  it('of another deployment is refused', async () => {
    const theirs = new ClaimProofs(Buffer.alloc(32, 8), EASY, () => 0);
    expect(await proofs().check(await solveProof(theirs.issue()))).toBeUndefined();
  });

  it('whose challenge was changed in any place is refused', async () => {
    const { challenge, ...rest } = proofs().issue();
    for (let index = 0; index < challenge.length; index++) {
      const changed = flip(challenge, index);
      const proof = await solveProof({ ...rest, difficulty: 0, challenge: changed });
      expect(await proofs().check(proof), `character ${index}`).toBeUndefined();
    }
  });

  it('without the work is refused', async () => {
    const { challenge } = proofs().issue();
    const answers = Array.from({ length: 64 }, (_, number) => proofs().check(`${challenge}.${number}`));
    const accepted = (await Promise.all(answers)).filter((answer) => answer !== undefined);
    expect(accepted.length).toBeLessThan(32);
  });

  it.each([
    '',
    'nonsense',
    '1.2.3.4.5',
    '0'.repeat(10_000),
    `${'9'.repeat(12)}.4.${'a'.repeat(32)}.${'b'.repeat(32)}.1`,
  ])('that is none is refused: %.40s', async (text) => {
    expect(await proofs().check(text)).toBeUndefined();
  });
});
