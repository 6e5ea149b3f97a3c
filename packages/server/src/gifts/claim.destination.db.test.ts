import { ApiError } from '@svc/protocol';
import type { Database } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { claimDeps, MANAGER, notConfigured, PAYMENT_ADDRESS, SOLANA_WALLET, USDC } from '../../testing/gifts.ts';
import { readDestination, requireReachable } from './claim.ts';

/** Of the wallet of the bridge's vectors. */
const TOKEN_ACCOUNT = 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B';
const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const gift = { environment: 'development', cctpFast: true, bridge: 1n } as const;
const deps = claimDeps({} as Database);
const reach = (chain: 'starknet' | 'solana', address: string, changes = {}, given = {}) =>
  requireReachable({ ...deps, ...changes }, { ...gift, ...given }, readDestination(chain, address));

const refusal = (reason: string) => new ApiError('invalid_request', `body.walletAddress ${reason}.`);

describe('where a gift goes', () => {
  it('is one address however it is spelt', () => {
    const spellings = ['0xAbC1', '0xabc1', '0x000abc1', `0x${'ABC1'.padStart(64, '0')}`];
    const addresses = spellings.map((text) => readDestination('starknet', text).address);
    expect(new Set(addresses)).toEqual(new Set([`0x${'abc1'.padStart(64, '0')}`]));
    expect(readDestination('starknet', '0xAbC1').shownAddress).toBe('0xAbC1');
  });

  it.each([
    ['starknet', '0x0', 'must not be the zero address'],
    ['starknet', SOLANA_WALLET, 'must be 0x and up to 64 hexadecimal digits'],
    ['starknet', `0x${'f'.repeat(64)}`, 'is too large for a Starknet address'],
    ['solana', '0xabc', 'must be a base58 address of 32 to 44 characters'],
    ['solana', '1'.repeat(32), 'must not be the zero address'],
    ['solana', 'z'.repeat(44), 'must be a base58 address of 32 bytes'],
    ['solana', TOKEN_ACCOUNT, 'must be a wallet, not a token, a token account or a program'],
    ['solana', USDC_MINT, 'must be a wallet, not a token, a token account or a program'],
  ] as const)('must be an address of %s: %s', (chain, address, reason) => {
    expect(() => readDestination(chain, address)).toThrow(refusal(reason));
  });

  it.each([
    ['starknet', `0x${MANAGER.toString(16).toUpperCase()}`, 'must be a wallet of yours, not one of this service'],
    ['starknet', PAYMENT_ADDRESS, 'must be a wallet of yours, not one of this service'],
    ['starknet', USDC.replace('0x0', '0x'), 'must be a wallet, not a token'],
  ] as const)('cannot be an account of the service or a token, on %s: %s', (chain, address, reason) => {
    expect(() => reach(chain, address)).toThrow(refusal(reason));
  });

  it('can be any other wallet', () => {
    reach('starknet', '0xabc1');
    reach('solana', SOLANA_WALLET);
    reach('solana', SOLANA_WALLET, {}, { cctpFast: false, bridge: 0n });
  });

  it('must be on a chain that the environment has', () => {
    const unknown = expect.objectContaining({ code: 'chain_not_configured', status: 400 });
    expect(() => reach('starknet', '0xabc1', { manager: notConfigured })).toThrow(unknown);
    expect(() => reach('solana', SOLANA_WALLET, { manager: notConfigured })).toThrow(unknown);
    expect(() => reach('solana', SOLANA_WALLET, { canBridge: () => false })).toThrow(unknown);
    expect(() => reach('solana', SOLANA_WALLET, {}, { bridge: 0n })).toThrow(unknown);
  });
});
