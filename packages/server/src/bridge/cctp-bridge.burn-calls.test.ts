import { selector } from '@svc/starknet';
import { expect, it } from 'vitest';
import { BURN, HOOK_HEX, OWNER, USDC } from '../../testing/bridge-vectors.ts';
import { burnCalls } from './cctp-bridge.ts';
import { cctpPlaces, forwardHook } from './cctp-message.ts';

const { mainnet } = cctpPlaces;

it('a burn approves exactly its amount, then names recipient, fee and speed', () => {
  const [approve, deposit, ...others] = burnCalls(mainnet, USDC, BURN.order);
  expect(others).toEqual([]);
  expect(approve).toEqual({
    to: USDC,
    selector: selector('approve'),
    calldata: [3540994284365574751547604679126858219995711293791393913245329765580121706282n, 1_000_000n, 0n],
  });
  expect(deposit).toMatchObject({
    to: mainnet.tokenMessenger,
    selector: selector('deposit_for_burn_with_hook'),
  });
  expect(deposit?.calldata.slice(0, 11)).toEqual([
    1_000_000n,
    0n,
    5n,
    326046992440607538483769016475825969116n,
    281684963577198880146167638033210033102n,
    1442471627432665843583957153937277124821302887621015682060980008275741980155n,
    0n,
    0n,
    500n,
    0n,
    1_000n,
  ]);
});

it('the hook follows as a byte array: two whole words and three bytes', () => {
  const [, deposit] = burnCalls(mainnet, USDC, BURN.order);
  const hook = BigInt(`0x${HOOK_HEX}`);
  const first = hook >> (34n * 8n);
  const second = (hook >> (3n * 8n)) & (2n ** 248n - 1n);
  expect(deposit?.calldata.slice(11)).toEqual([2n, first, second, hook & 0xffffffn, 3n]);
});

it('the hook asks Circle to mint for the owner', () => {
  expect(Buffer.from(forwardHook(OWNER)).toString('hex')).toBe(HOOK_HEX);
});

it('a standard burn waits for finality', () => {
  const [, deposit] = burnCalls(mainnet, USDC, { ...BURN.order, fast: false });
  expect(deposit?.calldata[10]).toBe(2_000n);
});

it('a burn that could be eaten up by its fee is refused', () => {
  expect(() => burnCalls(mainnet, USDC, { ...BURN.order, amount: 500n })).toThrow('larger than the fee');
});
