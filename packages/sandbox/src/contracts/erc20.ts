import { readShortString, shortString, starknetKeccak } from '@svc/starknet';
import { address, bool, byteArray, felt, panic, require, U256_MAX, u8, u256 } from './codec.ts';
import {
  action,
  alias,
  contract,
  event,
  external,
  type Frame,
  foreseeing,
  key,
  map,
  variable,
  view,
} from './contract.ts';

/** OpenZeppelin's variables, so balances have the same storage keys as on a live network. */
export const erc20Storage = {
  name: variable('ERC20_name', felt),
  symbol: variable('ERC20_symbol', felt),
  decimals: variable('ERC20_decimals', u8),
  totalSupply: variable('ERC20_total_supply', u256),
  balances: map('ERC20_balances', u256),
  allowances: map('ERC20_allowances', u256),
  minters: map('ERC20_minters', bool),
};
const { totalSupply, balances, allowances, minters } = erc20Storage;

const Transfer = event('Transfer', { from: key(address), to: key(address), value: u256 });
const Approval = event('Approval', { owner: key(address), spender: key(address), value: u256 });

async function add(frame: Frame, account: bigint, amount: bigint): Promise<void> {
  const sum = (await balances.read(frame, account)) + amount;
  require(sum <= U256_MAX, 'u256_add Overflow');
  await balances.write(frame, [account], sum);
}

async function subtract(frame: Frame, account: bigint, amount: bigint): Promise<void> {
  const balance = await balances.read(frame, account);
  require(balance >= amount, 'ERC20: insufficient balance');
  await balances.write(frame, [account], balance - amount);
}

async function move(frame: Frame, from: bigint, to: bigint, value: bigint): Promise<void> {
  require(from !== 0n, 'ERC20: transfer from 0');
  require(to !== 0n, 'ERC20: transfer to 0');
  await subtract(frame, from, value);
  await add(frame, to, value);
  Transfer.emit(frame, { from, to, value });
}

async function setAllowance(frame: Frame, owner: bigint, spender: bigint, value: bigint): Promise<void> {
  require(owner !== 0n, 'ERC20: approve from 0');
  require(spender !== 0n, 'ERC20: approve to 0');
  require(value <= U256_MAX, 'u256_add Overflow');
  await allowances.write(frame, [owner, spender], value);
  Approval.emit(frame, { owner, spender, value });
}

/** The maximum counts as unlimited. */
async function useAllowance(frame: Frame, owner: bigint, spender: bigint, amount: bigint): Promise<void> {
  const allowance = await allowances.read(frame, owner, spender);
  if (allowance === U256_MAX) return;
  require(allowance >= amount, 'ERC20: insufficient allowance');
  await setAllowance(frame, owner, spender, allowance - amount);
}

async function mintTo(frame: Frame, to: bigint, value: bigint): Promise<void> {
  require(to !== 0n, 'ERC20: mint to 0');
  const supply = (await totalSupply.read(frame)) + value;
  require(supply <= U256_MAX, 'u256_add Overflow');
  await totalSupply.write(frame, supply);
  await add(frame, to, value);
  Transfer.emit(frame, { from: 0n, to, value });
}

async function requireMinter(frame: Frame): Promise<void> {
  if (!(await minters.read(frame, frame.caller))) panic('ERC20: caller is not a minter');
}

function toText(bytes: Uint8Array): bigint {
  const text = new TextDecoder().decode(bytes);
  if (text.length > 31 || !/^[\x20-\x7e]*$/.test(text)) panic('ERC20: name is no short string');
  return shortString(text);
}

function toByteArray(text: bigint): Uint8Array {
  return new TextEncoder().encode(readShortString(text));
}

const construct = action(
  'constructor',
  { name: byteArray, symbol: byteArray, decimals: u8, initial_supply: u256, recipient: address, minter: address },
  async (frame, args) => {
    await erc20Storage.name.write(frame, toText(args.name));
    await erc20Storage.symbol.write(frame, toText(args.symbol));
    await erc20Storage.decimals.write(frame, args.decimals);
    await minters.write(frame, [args.minter], true);
    if (args.initial_supply > 0n) await mintTo(frame, args.recipient, args.initial_supply);
  },
);

const name = view('name', {}, byteArray, async (frame) => toByteArray(await erc20Storage.name.read(frame)));
const symbol = view('symbol', {}, byteArray, async (frame) => toByteArray(await erc20Storage.symbol.read(frame)));
const decimals = view('decimals', {}, u8, (frame) => erc20Storage.decimals.read(frame));
const total = view('total_supply', {}, u256, (frame) => totalSupply.read(frame));
/** Of the accounts that are first arguments. */
const balanceCells = (calldata: readonly (readonly bigint[])[]): bigint[] =>
  balances.keysOf(calldata.flatMap(([account]) => account ?? [])).flatMap((low) => [low, low + 1n]);
const balanceOf = foreseeing(
  view('balance_of', { account: address }, u256, (frame, { account }) => balances.read(frame, account)),
  balanceCells,
);
const allowance = view('allowance', { owner: address, spender: address }, u256, (frame, { owner, spender }) =>
  allowances.read(frame, owner, spender),
);

const transfer = foreseeing(
  external('transfer', { recipient: address, amount: u256 }, bool, async (frame, args) => {
    await move(frame, frame.caller, args.recipient, args.amount);
    return true;
  }),
  balanceCells,
);

const transferFrom = external(
  'transfer_from',
  { sender: address, recipient: address, amount: u256 },
  bool,
  async (frame, { sender, recipient, amount }) => {
    await useAllowance(frame, sender, frame.caller, amount);
    await move(frame, sender, recipient, amount);
    return true;
  },
);

const approve = external('approve', { spender: address, amount: u256 }, bool, async (frame, { spender, amount }) => {
  await setAllowance(frame, frame.caller, spender, amount);
  return true;
});

const increaseAllowance = external(
  'increase_allowance',
  { spender: address, added_value: u256 },
  bool,
  async (frame, args) => {
    const current = await allowances.read(frame, frame.caller, args.spender);
    await setAllowance(frame, frame.caller, args.spender, current + args.added_value);
    return true;
  },
);

const decreaseAllowance = external(
  'decrease_allowance',
  { spender: address, subtracted_value: u256 },
  bool,
  async (frame, args) => {
    const current = await allowances.read(frame, frame.caller, args.spender);
    require(current >= args.subtracted_value, 'u256_sub Overflow');
    await setAllowance(frame, frame.caller, args.spender, current - args.subtracted_value);
    return true;
  },
);

const mint = action('mint', { recipient: address, amount: u256 }, async (frame, { recipient, amount }) => {
  await requireMinter(frame);
  await mintTo(frame, recipient, amount);
});

const burn = action('burn', { amount: u256 }, async (frame, { amount }) => {
  await requireMinter(frame);
  await subtract(frame, frame.caller, amount);
  await totalSupply.write(frame, (await totalSupply.read(frame)) - amount);
  Transfer.emit(frame, { from: frame.caller, to: 0n, value: amount });
});

export const erc20 = contract({
  name: 'ERC20',
  classHash: starknetKeccak('svc sandbox erc20'),
  construct,
  functions: [
    name,
    symbol,
    decimals,
    total,
    alias('totalSupply', total),
    balanceOf,
    alias('balanceOf', balanceOf),
    allowance,
    transfer,
    transferFrom,
    alias('transferFrom', transferFrom),
    approve,
    increaseAllowance,
    alias('increaseAllowance', increaseAllowance),
    decreaseAllowance,
    alias('decreaseAllowance', decreaseAllowance),
    mint,
    burn,
  ],
  events: [Transfer, Approval],
});
