import { parseSolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { selector } from '@svc/starknet';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, TestChain, USDC } from '../../testing/test-chain.ts';
import type { Executed } from '../execution/types.ts';
import { starknetToken } from '../tokens.ts';
import { bridgeMessageBytes, burnMessageBytes, MESSAGE_TRANSMITTER_ADDRESS, TOKEN_MESSENGER_ADDRESS } from './cctp.ts';
import { byteArray, Reader, toInteger, u256 } from './codec.ts';
import { predeployed } from './predeployed.ts';

const { manager } = predeployed;

function solana(text: string): bigint {
  const parsed = parseSolanaAddress(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return toInteger(solanaAddressBytes(parsed.value));
}

const RECIPIENT = solana('FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B');
const SOLANA_MESSENGER = solana('CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe');

interface Burn {
  readonly amount: bigint;
  readonly domain: bigint;
  readonly recipient: bigint;
  readonly token: bigint;
  readonly maxFee: bigint;
}
const oneUsdc: Burn = { amount: 1_000_000n, domain: 5n, recipient: RECIPIENT, token: USDC, maxFee: 500n };

function burnCalldata({ amount, domain, recipient, token, maxFee }: Burn): bigint[] {
  return [...u256.write(amount), domain, ...u256.write(recipient), token, 0n, 0n, ...u256.write(maxFee), 1_000n];
}

describe('the token messenger', () => {
  let chain: TestChain;
  beforeEach(() => {
    chain = new TestChain();
  });

  function burn(changes: Partial<Burn> = {}, hook?: Uint8Array, allowance = 2_000_000n): Promise<Executed> {
    const name = hook ? 'deposit_for_burn_with_hook' : 'deposit_for_burn';
    const calldata = [...burnCalldata({ ...oneUsdc, ...changes }), ...(hook ? byteArray.write(hook) : [])];
    const approve = call(USDC, 'approve', [TOKEN_MESSENGER_ADDRESS, ...u256.write(allowance)]);
    return chain.simulate(manager.address, [approve, call(TOKEN_MESSENGER_ADDRESS, name, calldata)]);
  }

  it('takes the calldata that the bridge documents', () => {
    expect(burnCalldata(oneUsdc).map(String)).toEqual(
      [
        '1000000',
        '0',
        '5',
        '326046992440607538483769016475825969116',
        '281684963577198880146167638033210033102',
      ].concat([
        '1442471627432665843583957153937277124821302887621015682060980008275741980155',
        '0',
        '0',
        '500',
        '0',
        '1000',
      ]),
    );
  });

  it('burns what it was allowed to, says so, and sends the message', async () => {
    const balance = await chain.balance(USDC, manager.address);
    const [supply = 0n] = await chain.read(USDC, 'total_supply');
    const { events, status } = await burn();
    expect(status).toBe('SUCCEEDED');
    expect(await chain.balance(USDC, manager.address)).toBe(balance - 1_000_000n);
    expect(await chain.balance(USDC, TOKEN_MESSENGER_ADDRESS)).toBe(0n);
    expect(await chain.read(USDC, 'total_supply')).toEqual([supply - 1_000_000n, 0n]);
    expect(events.at(-1)).toEqual({
      from: TOKEN_MESSENGER_ADDRESS,
      keys: [selector('DepositForBurn'), USDC, manager.address],
      data: [
        ...u256.write(1_000_000n),
        ...u256.write(RECIPIENT),
        5n,
        ...u256.write(SOLANA_MESSENGER),
        0n,
        0n,
        ...u256.write(500n),
        1_000n,
        0n,
        0n,
        0n,
      ],
    });
    const sent = events.at(-2);
    expect(sent).toMatchObject({ from: MESSAGE_TRANSMITTER_ADDRESS, keys: [selector('MessageSent')] });
    const message = byteArray.read(new Reader(sent?.data ?? []));
    const at = (from: number, to: number) => toInteger(message.subarray(from, to));
    expect([at(0, 4), at(4, 8), at(8, 12), at(12, 44)]).toEqual([1n, 25n, 5n, 0n]);
    expect([at(44, 76), at(76, 108), at(108, 140)]).toEqual([TOKEN_MESSENGER_ADDRESS, SOLANA_MESSENGER, 0n]);
    expect([at(140, 144), at(144, 148)]).toEqual([1_000n, 0n]);
    const body = (from: number) => at(148 + from, 148 + from + 32);
    expect(at(148, 152)).toBe(1n);
    expect([body(4), body(36), body(68), body(100)]).toEqual([USDC, RECIPIENT, 1_000_000n, manager.address]);
    expect([body(132), body(164), body(196)]).toEqual([500n, 0n, 0n]);
    expect(message).toHaveLength(148 + 228);
  });

  it('carries a hook to the end of the message', async () => {
    const hook = Uint8Array.from({ length: 65 }, (_, index) => index);
    const { events } = await burn({}, hook);
    const message = byteArray.read(new Reader(events.at(-2)?.data ?? []));
    expect(message.subarray(148 + 228)).toEqual(hook);
    expect(events.at(-1)?.data.slice(-5)).toEqual(byteArray.write(hook).slice(-5));
    expect((await burn({}, new Uint8Array())).revertReason).toContain("('Hook data is empty')");
  });

  it.each([
    ['nothing', { amount: 0n, maxFee: 0n }, 'Amount must be nonzero'],
    ['a fee of the whole amount', { maxFee: 1_000_000n }, 'Max fee must be less than amt'],
    ['without recipient', { recipient: 0n }, 'Mint recipient must be non-zero'],
    ['another token', { token: starknetToken('USDT').address }, 'Burn token not supported'],
    ['too much', { amount: 10_000_000_000_001n }, 'Burn amount exceeds limit'],
    ['more than was allowed', { amount: 2_000_001n }, 'ERC20: insufficient allowance'],
    ['for a domain without a messenger', { domain: 7n }, 'Recipient must be non-zero'],
    ['for its own domain', { domain: 25n }, 'Domain is local domain'],
  ])('burns not %s', async (_name, changes, reason) => {
    const before = await chain.balance(USDC, manager.address);
    expect((await burn(changes)).revertReason).toContain(`('${reason}')`);
    expect(await chain.balance(USDC, manager.address)).toBe(before);
  });

  it('burns with a fee of one below the amount', async () => {
    expect((await burn({ maxFee: 999_999n })).status).toBe('SUCCEEDED');
  });
});

describe('a bridge message', () => {
  /** Attested on Sepolia, with nonce, executed finality, fee and expiration filled in. */
  const ATTESTED =
    '000000010000001900000007010a10ae78572dbfa6c0870f0143f0e7e1dc0d374877ac8937fd6abcfdf9942604bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc33700000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa0000000000000000000000000000000000000000000000000000000000000000000003e8000003e8000000010512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343000000000000000000000000ac379d268ac099ab699b39c73ce623eca56b792100000000000000000000000000000000000000000000000000000000000186a003134168ba108079d32b25eaf37f49165c5e831df4c3b099daf09a8ee41d86ff0000000000000000000000000000000000000000000000000000000000000118000000000000000000000000000000000000000000000000000000000000008c0000000000000000000000000000000000000000000000000000000002679e55';

  it('has the layout of one that was really sent, but for what the attestation adds', () => {
    const sent = bridgeMessageBytes({
      sourceDomain: 25n,
      destinationDomain: 7n,
      sender: 0x04bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc3370n,
      recipient: 0x8fe6b999dc680ccfdd5bf7eb0974218be2542daan,
      destinationCaller: 0n,
      minFinalityThreshold: 1_000n,
      body: burnMessageBytes({
        burnToken: 0x0512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343n,
        mintRecipient: 0xac379d268ac099ab699b39c73ce623eca56b7921n,
        amount: 100_000n,
        messageSender: 0x03134168ba108079d32b25eaf37f49165c5e831df4c3b099daf09a8ee41d86ffn,
        maxFee: 280n,
        hookData: new Uint8Array(),
      }),
    });
    const attested = Buffer.from(ATTESTED, 'hex');
    for (const [from, to] of [
      [12, 44],
      [144, 148],
      [148 + 164, 148 + 228],
    ] as const)
      attested.fill(0, from, to);
    expect(Buffer.from(sent).toString('hex')).toBe(attested.toString('hex'));
  });
});
