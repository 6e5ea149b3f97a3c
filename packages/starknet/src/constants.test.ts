import { constants } from 'starknet';
import { describe, expect, it } from 'vitest';
import { chainIds, interfaceIds, LEGACY_UDC_ADDRESS, UDC_ADDRESS, VALID } from './constants.ts';
import { readShortString, toHex } from './felt.ts';
import { ANY_CALLER } from './outside-execution.ts';

describe('constants', () => {
  it('of the networks are those of starknet.js', () => {
    expect(toHex(chainIds.SN_MAIN)).toBe(constants.StarknetChainId.SN_MAIN);
    expect(toHex(chainIds.SN_SEPOLIA)).toBe(constants.StarknetChainId.SN_SEPOLIA);
    expect(UDC_ADDRESS).toBe(BigInt(constants.UDC.ADDRESS));
    expect(LEGACY_UDC_ADDRESS).toBe(BigInt(constants.LegacyUDC.ADDRESS));
    expect(interfaceIds.OUTSIDE_EXECUTION_V1).toBe(BigInt(constants.SNIP9_V1_INTERFACE_ID));
    expect(interfaceIds.OUTSIDE_EXECUTION_V2).toBe(BigInt(constants.SNIP9_V2_INTERFACE_ID));
  });

  it('that are short strings say what they are', () => {
    expect(Object.values(chainIds).map(readShortString)).toEqual(Object.keys(chainIds));
    expect(readShortString(VALID)).toBe('VALID');
    expect(readShortString(ANY_CALLER)).toBe('ANY_CALLER');
  });
});
