import fc from 'fast-check';
import { hash } from 'starknet';
import { describe, expect, it } from 'vitest';
import { selector } from './selectors.ts';

describe('selectors', () => {
  it.each([
    ['Transfer', 0x99cd8bde557814842a3121e8ddfd433a539b8c9f14bf31ebf108d12e6196e9n],
    ['ContractDeployed', 0x26b160f10156dea0639bec90696772c640b9706a47f5b8c52ea1abe5858b34dn],
    ['transfer', 0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12en],
    ['approve', 0x219209e083275171774dab1df80982e9df2096516f06319c5c6d71ae0a8480cn],
    ['execute_from_outside_v2', 0x34cc13b274446654ca3233ed2c1620d4c5d1d32fd20b47146a3371064bdc57dn],
    ['deploy_contract', 0x2730079d734ee55315f4f141eaed376bddd8c2133523d223a344c5604e0f7f8n],
    ['__execute__', 0x15d40a3d6ca2ac30f4031e42be28da9b056fef9bb7357ac5e85627ee876e5adn],
    ['_signer', 0x1ccc09c8a19948e048de7add6929589945e25f22059c7345aaf7837188d8d05n],
    ['__default__', 0n],
    ['__l1_default__', 0n],
  ])('of %s is the published one', (name, value) => {
    expect(selector(name)).toBe(value);
  });

  it('agree with starknet.js for any name, the first time and every other', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (name) => {
        const expected = BigInt(hash.getSelectorFromName(name));
        expect(selector(name)).toBe(expected);
        expect(selector(name)).toBe(expected);
      }),
    );
  });
});
