import { expect, it } from 'vitest';
import { hasLeadingZeros } from './proof-of-work.ts';

it.each([
  [[0xff], 0, true],
  [[0x80], 1, false],
  [[0x7f], 1, true],
  [[0x00, 0x3f], 10, true],
  [[0x00, 0x40], 10, false],
  [[0x01, 0x00], 10, false],
  [[0x00], 9, false],
])('bytes %j begin with %i zero bits: %s', (bytes, bits, answer) => {
  expect(hasLeadingZeros(Uint8Array.from(bytes), bits)).toBe(answer);
});
