import { chainIds } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { readTrust, requireTrustedBridge } from './client/trust.ts';
import { burnCalls, requireSolanaWallet } from './solana-transfers.ts';

const OWNER = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const TOKEN_ACCOUNT = 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B';
const usdcMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const tokenMessenger = 0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2an;
const usdc = 0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fbn;

describe('the calls that the owner signs', () => {
  it('burn for the token account of the recipient, as Circle documents it', async () => {
    const order = { amount: 1_000_000n, maxFee: 500n, recipient: OWNER, fast: true, usdc, tokenMessenger, usdcMint };
    const [approve, burn, ...others] = await burnCalls(order);
    expect(others).toEqual([]);
    expect(approve).toMatchObject({ entrypoint: 'approve', calldata: [tokenMessenger, 1_000_000n, 0n] });
    expect(burn?.calldata.slice(0, 11)).toEqual([
      ...[1_000_000n, 0n, 5n],
      ...[326046992440607538483769016475825969116n, 281684963577198880146167638033210033102n],
      ...[usdc, 0n, 0n, 500n, 0n, 1_000n],
    ]);
    const [, standard] = await burnCalls({ ...order, fast: false });
    expect(standard?.calldata[10]).toBe(2_000n);
  });

  it('are refused for what is no wallet: a token account, another chain, nonsense', () => {
    expect(requireSolanaWallet(` ${OWNER} `)).toBe(OWNER);
    for (const text of [TOKEN_ACCOUNT, usdcMint, '0x123', '', `${OWNER}1111`]) {
      expect(() => requireSolanaWallet(text)).toThrow('recipient');
    }
  });
});

describe('on a live network', () => {
  const chainId = chainIds.SN_MAIN;
  const bridge = { chainId, tokenMessenger, usdcMint };

  it("the service's word on the bridge is not enough", () => {
    expect(() => requireTrustedBridge(readTrust(), bridge)).not.toThrow();
    for (const lie of [{ tokenMessenger: 0xbadn }, { usdcMint: OWNER }]) {
      expect(() => requireTrustedBridge(readTrust(), { ...bridge, ...lie })).toThrow('Nothing was signed');
    }
  });

  it("an app's own network has the bridge that the app names", () => {
    const own = { ...bridge, chainId: 0x1234n, tokenMessenger: 0x77n };
    const options = { chainId: '0x1234' };
    expect(() => requireTrustedBridge(readTrust(options), own)).toThrow('Nothing was signed');
    const named = { ...options, bridge: { tokenMessenger: '0x77', usdcMint } };
    expect(() => requireTrustedBridge(readTrust(named), own)).not.toThrow();
  });
});
