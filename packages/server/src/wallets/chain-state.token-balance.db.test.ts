import type { endpoints, QueryOf } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { findToken } from '../chains/tokens.ts';
import { tokenBalance } from './chain-state.ts';

type Query = QueryOf<typeof endpoints.getTokenBalance>;
const EVM_ADDRESS = `0x${'AB'.repeat(20)}`;
const owner = new Owner();

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
  await fixture.wallet(owner, 'ana');
  await fixture.sandbox.post('/faucet', { address: owner.address, token: 'USDC', amount: '25.5' });
});
afterAll(() => fixture.stop());

const ask = (query: Partial<Query>, caller = fixture.caller()) =>
  tokenBalance(fixture, caller, { chain: 'STARKNET', chainToken: 'USDC', ...query });

describe("a wallet's balance", () => {
  it('is told by user and by address, in the smallest unit', async () => {
    const expected = {
      chain: 'STARKNET',
      chainToken: 'USDC',
      chainTokenAddress: findToken('sandbox', 'STARKNET', 'USDC')?.address,
      decimals: 6,
      balance: '25500000',
    };
    expect(await ask({ externalUserId: 'ana' })).toEqual(expected);
    expect(await ask({ externalUserId: 'ana' }, fixture.caller('ana'))).toEqual(expected);
    expect(await ask({ walletPublicKey: `0x${BigInt(owner.address).toString(16)}` })).toEqual(expected);
    expect(await ask({ walletPublicKey: owner.address }, fixture.caller('ana'))).toEqual(expected);
    expect(await ask({ walletPublicKey: '0x1234' })).toMatchObject({ balance: '0' });
  });

  it('is told on the EVM chains, their own coin included', async () => {
    await fixture.sandbox.post('/faucet', { chain: 'BASE', address: EVM_ADDRESS, token: 'ETH', amount: '1.5' });
    const coin = await ask({ chain: 'BASE', chainToken: 'ETH', walletPublicKey: EVM_ADDRESS });
    expect(coin).toEqual({
      chain: 'BASE',
      chainToken: 'ETH',
      chainTokenAddress: `0x${'0'.repeat(40)}`,
      decimals: 18,
      balance: '1500000000000000000',
    });
    const token = await ask({ chain: 'BASE', chainToken: 'USDC', walletPublicKey: EVM_ADDRESS }, fixture.caller('ana'));
    expect(token).toMatchObject({ chainTokenAddress: findToken('sandbox', 'BASE', 'USDC')?.address, balance: '0' });
  });

  it('needs exactly one identifier', async () => {
    await refusal(ask({}), 'invalid_request');
    await refusal(ask({ externalUserId: 'ana', walletPublicKey: owner.address }), 'invalid_request');
  });

  it('is refused for tokens that the chain does not have', async () => {
    for (const chainToken of ['OTHER', 'MXNB'] as const) {
      const message = await refusal(ask({ chainToken, externalUserId: 'ana' }), 'token_not_supported');
      expect(message).toBe(`STARKNET does not have ${chainToken}.`);
    }
    await refusal(ask({ chain: 'ROOTSTOCK', chainToken: 'ETH', walletPublicKey: EVM_ADDRESS }), 'token_not_supported');
  });

  it('is refused where there is no such chain', async () => {
    const caller = { ...fixture.caller(), environment: 'production' } as const;
    await refusal(ask({ externalUserId: 'ana' }, caller), 'chain_not_configured');
    await refusal(ask({ chain: 'BASE', walletPublicKey: EVM_ADDRESS }, caller), 'chain_not_configured');
  });

  it('cannot be told by user on an EVM chain', async () => {
    expect(await refusal(ask({ chain: 'BASE', externalUserId: 'ana' }), 'unsupported_chain')).toContain(
      'walletPublicKey',
    );
  });

  it('reads addresses by the rules of their chain', async () => {
    await refusal(ask({ walletPublicKey: 'nonsense' }), 'invalid_request');
    const message = await refusal(ask({ chain: 'BASE', walletPublicKey: owner.address }), 'invalid_request');
    expect(message).toContain('query.walletPublicKey must be 0x and 40');
  });

  it("of another's wallet is missing for a user's token", async () => {
    const luis = fixture.caller('luis');
    await refusal(ask({ externalUserId: 'nobody' }), 'wallet_not_found');
    await refusal(ask({ externalUserId: 'ana' }, luis), 'wallet_not_found');
    await refusal(ask({ walletPublicKey: owner.address }, luis), 'wallet_not_found');
    await refusal(ask({ walletPublicKey: '0x1234' }, luis), 'wallet_not_found');
  });
});
