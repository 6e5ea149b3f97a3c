import { describe, expect, it } from 'vitest';
import { formatPrivateAddress, parsePrivateAddress, publicPoint } from './index.ts';

describe('a private address', () => {
  it('is read again, for points of either sign', () => {
    for (const key of [1n, 2n, 3n, 4n, 5n, 2n ** 250n + 9n]) {
      const point = publicPoint(key);
      expect(parsePrivateAddress(formatPrivateAddress(point))).toEqual(point);
    }
  });

  it("is written as Tongo's package writes it", () => {
    // pubKeyAffineToBase58 of @fatsolutions/tongo-sdk 1.3.1.
    expect(formatPrivateAddress(publicPoint(1n))).toBe('tpVy7qhGUeij6r1uFiizhb9yacodxpuNvEJLqJENW7HT');
    expect(formatPrivateAddress(publicPoint(3n))).toBe('bjWfHiRYHWhnRm1yTnQFMS6HoYESC3WfcNmDen1R4CNT');
  });

  it.each(['', '0x123', 'l'.repeat(44), '1'.repeat(44), 'z'.repeat(46), ` ${formatPrivateAddress(publicPoint(1n))}`])(
    'is not %s',
    (text) => {
      expect(parsePrivateAddress(text)).toBeUndefined();
    },
  );

  it('is not that of an x coordinate without a point', () => {
    expect(parsePrivateAddress(formatPrivateAddress({ x: 4n, y: 0n }))?.x).toBe(4n);
    expect(parsePrivateAddress(formatPrivateAddress({ x: 5n, y: 0n }))).toBeUndefined();
  });
});
