import { selector, starknetKeccak } from '@svc/starknet';
import {
  addBalances,
  type CipherBalance,
  emptyBalance,
  encryptAmount,
  FUND_RANDOMNESS,
  type ProofContext,
  subtractBalances,
  verifyFund,
  verifyRagequit,
  verifyRollover,
  verifyTransfer,
  verifyWithdraw,
  WITHDRAW_RANDOMNESS,
} from '@svc/starknet/private-balance';
import { address, option, panic, require, u32, u64, u128, u256, type Value } from './codec.ts';
import { action, contract, event, type Frame, key, map, variable, view } from './contract.ts';
import { admit, getTerms, poolTerms, setTerms } from './tongo-terms.ts';
import {
  aeBalance,
  cipherBalance,
  fund,
  type PubKey,
  pubKey,
  ragequit,
  rollover,
  state,
  transfer,
  withdraw,
} from './tongo-types.ts';

/** The mainnet address of Tongo for USDC. */
export const TONGO_ADDRESS = 0x0415f2c3b16cc43856a0434ed151888a5797b6a22492ea6fd41c62dbb4df4e6cn;

export const tongoStorage = {
  owner: variable('owner', address),
  erc20: variable('ERC20', address),
  rate: variable('rate', u256),
  bitSize: variable('bit_size', u32),
};
const { owner, erc20, rate, bitSize } = tongoStorage;
const balances = map('balance', cipherBalance);
const pendings = map('pending', cipherBalance);
const nonces = map('nonce', u64);
const hints = map('ae_balance', aeBalance);

const NO_BALANCE: CipherBalance = { L: { x: 0n, y: 0n }, R: { x: 0n, y: 0n } };
const INVALID = 'Tongo: invalid proof';

const FundEvent = event('FundEvent', { to: key(pubKey), nonce: key(u64), amount: u128 });
const TransferEvent = event('TransferEvent', {
  to: key(pubKey),
  from: key(pubKey),
  nonce: key(u64),
  transferBalance: cipherBalance,
  transferBalanceSelf: cipherBalance,
  hintTransfer: aeBalance,
  hintLeftover: aeBalance,
});
const RolloverEvent = event('RolloverEvent', { to: key(pubKey), nonce: key(u64), rollovered: cipherBalance });
const WithdrawEvent = event('WithdrawEvent', { from: key(pubKey), nonce: key(u64), amount: u128, to: address });
const RagequitEvent = event('RagequitEvent', { from: key(pubKey), nonce: key(u64), amount: u128, to: address });

/** Nothing stored is zero, with a randomness of 1. */
async function read(frame: Frame, of: typeof balances, { x, y }: PubKey): Promise<CipherBalance> {
  const stored = await of.read(frame, x, y);
  return stored.L.x === 0n && stored.L.y === 0n ? emptyBalance({ x, y }) : stored;
}

async function contextOf(frame: Frame, account: PubKey): Promise<ProofContext> {
  return {
    chainId: frame.block.chainId,
    pool: frame.address,
    sender: frame.caller,
    nonce: await nonces.read(frame, account.x, account.y),
    balance: await read(frame, balances, account),
    bits: Number(await bitSize.read(frame)),
  };
}

/** A ciphertext with a half of zero cannot be stored. */
function computed(sum: () => CipherBalance): CipherBalance {
  try {
    return sum();
  } catch (error) {
    if (error instanceof RangeError) panic('Tongo: zero point');
    throw error;
  }
}

interface Change {
  readonly account: PubKey;
  readonly nonce: bigint;
  readonly balance: CipherBalance;
  readonly hint: Value<typeof aeBalance>;
}

async function store(frame: Frame, { account: { x, y }, nonce, balance, hint }: Change): Promise<void> {
  await balances.write(frame, [x, y], balance);
  await hints.write(frame, [x, y], hint);
  await nonces.write(frame, [x, y], nonce + 1n);
}

async function takeTokens(frame: Frame, amount: bigint): Promise<void> {
  const value = u256.write(amount * (await rate.read(frame)));
  const calldata = [frame.caller, frame.address, ...value];
  await frame.call({ to: await erc20.read(frame), selector: selector('transfer_from'), calldata });
}

async function giveTokens(frame: Frame, to: bigint, amount: bigint): Promise<void> {
  const calldata = [to, ...u256.write(amount * (await rate.read(frame)))];
  await frame.call({ to: await erc20.read(frame), selector: selector('transfer'), calldata });
}

function requireNoAudit(...parts: readonly unknown[]): void {
  require(parts.every((part) => part === undefined), 'Tongo: no auditor');
}

const construct = action(
  'constructor',
  { owner: address, ERC20: address, rate: u256, bit_size: u32, auditor_key: option(pubKey) },
  async (frame, args) => {
    requireNoAudit(args.auditor_key);
    await owner.write(frame, args.owner);
    await erc20.write(frame, args.ERC20);
    await rate.write(frame, args.rate);
    await bitSize.write(frame, args.bit_size);
  },
);

const operations = [
  action('fund', { fund }, async (frame, args) => {
    const { to, amount, hint, auditPart } = args.fund;
    requireNoAudit(auditPart);
    await admit(frame, 'fund', to, await owner.read(frame));
    const context = await contextOf(frame, to);
    require(amount >> BigInt(context.bits) === 0n, 'Tongo: amount out of range');
    require(verifyFund(context, args.fund), INVALID);
    await takeTokens(frame, amount);
    const balance = computed(() => addBalances(context.balance, encryptAmount(to, amount, FUND_RANDOMNESS)));
    await store(frame, { account: to, nonce: context.nonce, balance, hint });
    FundEvent.emit(frame, { to, nonce: context.nonce, amount });
  }),
  action('withdraw', { withdraw }, async (frame, args) => {
    const { from, to, amount, hint, auditPart } = args.withdraw;
    requireNoAudit(auditPart);
    await admit(frame, 'withdraw', from, await owner.read(frame));
    const context = await contextOf(frame, from);
    require(verifyWithdraw(context, args.withdraw), INVALID);
    const taken = encryptAmount(from, amount, WITHDRAW_RANDOMNESS);
    const balance = computed(() => subtractBalances(context.balance, taken));
    await store(frame, { account: from, nonce: context.nonce, balance, hint });
    await giveTokens(frame, to, amount);
    WithdrawEvent.emit(frame, { from, nonce: context.nonce, amount, to });
  }),
  action('ragequit', { ragequit }, async (frame, args) => {
    const { from, to, amount, hint, auditPart } = args.ragequit;
    requireNoAudit(auditPart);
    await admit(frame, 'ragequit', from, await owner.read(frame));
    const context = await contextOf(frame, from);
    require(verifyRagequit(context, args.ragequit), INVALID);
    await store(frame, { account: from, nonce: context.nonce, balance: emptyBalance(from), hint });
    await giveTokens(frame, to, amount);
    RagequitEvent.emit(frame, { from, nonce: context.nonce, amount, to });
  }),
  action('transfer', { transfer }, async (frame, args) => {
    const { from, to, transferBalance, transferBalanceSelf, hintTransfer, hintLeftover } = args.transfer;
    requireNoAudit(args.transfer.auditPart, args.transfer.auditPartTransfer);
    await admit(frame, 'transfer', from, await owner.read(frame));
    const context = await contextOf(frame, from);
    require(verifyTransfer(context, args.transfer), INVALID);
    const { nonce } = context;
    const balance = computed(() => subtractBalances(context.balance, transferBalanceSelf));
    await store(frame, { account: from, nonce, balance, hint: hintLeftover });
    const waiting = await read(frame, pendings, to);
    await pendings.write(
      frame,
      [to.x, to.y],
      computed(() => addBalances(waiting, transferBalance)),
    );
    const shown = { transferBalance, transferBalanceSelf, hintTransfer, hintLeftover };
    TransferEvent.emit(frame, { to, from, nonce, ...shown });
  }),
  action('rollover', { rollover }, async (frame, args) => {
    const { to, hint } = args.rollover;
    await admit(frame, 'rollover', to, await owner.read(frame));
    const context = await contextOf(frame, to);
    require(verifyRollover(context, args.rollover), INVALID);
    const rollovered = await read(frame, pendings, to);
    const balance = computed(() => addBalances(context.balance, rollovered));
    await pendings.write(frame, [to.x, to.y], NO_BALANCE);
    await store(frame, { account: to, nonce: context.nonce, balance, hint });
    RolloverEvent.emit(frame, { to, nonce: context.nonce, rollovered });
  }),
];

async function hintOf(frame: Frame, { x, y }: PubKey): Promise<Value<typeof aeBalance> | undefined> {
  const hint = await hints.read(frame, x, y);
  return hint.nonce === 0n ? undefined : hint;
}

const views = [
  view('ERC20', {}, address, (frame) => erc20.read(frame)),
  view('get_rate', {}, u256, (frame) => rate.read(frame)),
  view('get_bit_size', {}, u32, (frame) => bitSize.read(frame)),
  view('get_owner', {}, address, (frame) => owner.read(frame)),
  view('get_balance', { y: pubKey }, cipherBalance, (frame, { y }) => read(frame, balances, y)),
  view('get_pending', { y: pubKey }, cipherBalance, (frame, { y }) => read(frame, pendings, y)),
  view('get_audit', { y: pubKey }, option(cipherBalance), () => undefined),
  view('get_nonce', { y: pubKey }, u64, (frame, { y }) => nonces.read(frame, y.x, y.y)),
  view('get_state', { y: pubKey }, state, async (frame, { y }) => ({
    balance: await read(frame, balances, y),
    pending: await read(frame, pendings, y),
    nonce: await nonces.read(frame, y.x, y.y),
    audit: undefined,
    ae_balance: await hintOf(frame, y),
    ae_audit_balance: undefined,
  })),
  view('auditor_key', {}, option(pubKey), () => undefined),
];

const administration = [
  action('change_auditor_key', { new_auditor_key: pubKey }, () => panic('Tongo: no auditor')),
  view('get_terms', {}, poolTerms, getTerms),
  action('set_terms', { terms: poolTerms }, async (frame, { terms }) => {
    require(frame.caller === (await owner.read(frame)), 'Caller not owner');
    await setTerms(frame, terms);
  }),
];

/** Tongo's interface and proofs, without an auditor. `get_terms` and `set_terms` are the sandbox's own. */
export const tongo = contract({
  name: 'Tongo',
  classHash: starknetKeccak('svc sandbox tongo'),
  construct,
  functions: [...operations, ...views, ...administration],
  events: [TransferEvent, FundEvent, RolloverEvent, WithdrawEvent, RagequitEvent],
});
