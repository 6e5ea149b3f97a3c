import { createPublicClient, createWalletClient, erc20Abi, http, parseEventLogs } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base, optimism } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';

let sandbox: Sandbox;
let service: AnyService;
beforeAll(async () => {
  service = await TestService.shared();
  sandbox = service.sandbox;
});
afterAll(() => service.stop());

const chains = [
  ['BASE', base, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  ['OPTIMISM', optimism, '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'],
] as const;

describe.each(chains)('%s through viem', (name, chain, token) => {
  it('knows balances from the faucet, takes a signed transfer, and gives its receipt with the Transfer event', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const to = privateKeyToAccount(generatePrivateKey()).address;
    await sandbox.ask('/faucet', { address: account.address, token: 'ETH', amount: '1', chain: name });
    await sandbox.ask('/faucet', { address: account.address, token: 'USDC', amount: '10', chain: name });
    const transport = http(`${sandbox.url}/evm/${name.toLowerCase()}/rpc`);
    const reader = createPublicClient({ chain, transport });
    const writer = createWalletClient({ chain, transport, account });
    const balanceOf = (owner: `0x${string}`) =>
      reader.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });

    expect(await reader.getChainId()).toBe(chain.id);
    expect(await reader.getBalance({ address: account.address })).toBe(10n ** 18n);
    expect(await balanceOf(account.address)).toBe(10_000_000n);
    const hash = await writer.writeContract({
      address: token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [to, 3n],
    });
    const receipt = await reader.getTransactionReceipt({ hash });
    expect(receipt.status).toBe('success');
    const [event] = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs });
    expect(event?.args).toEqual({ from: account.address, to, value: 3n });
    expect(await balanceOf(to)).toBe(3n);
    expect(await reader.getBalance({ address: account.address })).toBeLessThan(10n ** 18n);
  });
});
