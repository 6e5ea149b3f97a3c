import { expect, it } from 'vitest';
import { randomCode } from './gift.ts';

it('a random code has eight letters, and every letter comes up in every place', () => {
  const codes = Array.from({ length: 2_000 }, randomCode);
  for (const code of codes) expect(code).toMatch(/^[A-Z]{8}$/);
  for (let place = 0; place < 8; place++) expect(new Set(codes.map((code) => code[place])).size).toBe(26);
  expect(new Set(codes).size).toBe(2_000);
});
