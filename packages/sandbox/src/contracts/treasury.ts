import {
  type Call,
  classes,
  interfaceIds,
  isPublicKey,
  MAX_TREASURY_SIGNERS,
  outsideExecutionHash,
  selector,
  TREASURY_INTERFACE,
  VALID,
  verify,
} from '@svc/starknet';
import {
  admitOutsideExecution,
  calls,
  executeAll,
  outsideExecution,
  outsideNonces,
  readOutsideExecution,
  requireProtocol,
  requireSelf,
  results,
} from './calls.ts';
import {
  address,
  array,
  bool,
  classHash,
  felt,
  Malformed,
  panic,
  Reader,
  require,
  span,
  struct,
  tuple,
  u32,
  u64,
  u256,
  type Value,
} from './codec.ts';
import { action, contract, event, external, type Frame, key, map, variable, view } from './contract.ts';

const threshold = variable('threshold', u32);
const signerCount = variable('signer_count', u32);
const signerKeys = map('signer_keys', felt);
const signers = map('signers', bool);

const terms = struct('svc::LimitTerms', { token: address, threshold: u32, max_per_window: u256, window_seconds: u64 });
const limit = tuple({
  threshold: u32,
  max_per_window: u256,
  window_seconds: u64,
  spent_in_window: u256,
  window_start: u64,
});
type Limit = Value<typeof limit>;
const limits = map('limits', limit);
const NO_LIMIT: Limit = {
  threshold: 0n,
  max_per_window: 0n,
  window_seconds: 0n,
  spent_in_window: 0n,
  window_start: 0n,
};

const SignerAdded = event('SignerAdded', { public_key: key(felt) });
const SignerRemoved = event('SignerRemoved', { public_key: key(felt) });
const ThresholdChanged = event('ThresholdChanged', { threshold: u32 });
const LimitSet = event('LimitSet', {
  token: key(address),
  threshold: u32,
  max_per_window: u256,
  window_seconds: u64,
});
const LimitRemoved = event('LimitRemoved', { token: key(address) });
const Approved = event('Approved', { nonce: key(felt), signers: span(felt), within_limit: bool });
const Upgraded = event('Upgraded', { class_hash: key(classHash) });

const OUTSIDE_TEXTS = {
  caller: 'SRC9: invalid caller',
  early: 'SRC9: now <= execute_after',
  late: 'SRC9: now >= execute_before',
  duplicate: 'SRC9: duplicated nonce',
};
const NOT_REACHED = 'Treasury: threshold not reached';
const FELTS_PER_SIGNATURE = 3;
const TRANSFER = selector('transfer');
const INTERFACES = [
  interfaceIds.SRC5,
  interfaceIds.SRC6,
  interfaceIds.OUTSIDE_EXECUTION_V2,
  TREASURY_INTERFACE,
] as const;

async function currentSigners(frame: Frame): Promise<bigint[]> {
  const count = await signerCount.read(frame);
  const keys: bigint[] = [];
  for (let index = 0n; index < count; index += 1n) keys.push(await signerKeys.read(frame, index));
  return keys;
}

async function replaceSigners(frame: Frame, keys: readonly bigint[], needed: bigint): Promise<void> {
  require(keys.length > 0 && keys.length <= MAX_TREASURY_SIGNERS, 'Treasury: invalid signers');
  let last = 0n;
  for (const one of keys) {
    require(one > last && isPublicKey(one), 'Treasury: invalid signers');
    last = one;
  }
  require(needed > 0n && needed <= BigInt(keys.length), 'Treasury: invalid threshold');
  for (const one of await currentSigners(frame)) {
    if (keys.includes(one)) continue;
    await signers.write(frame, [one], false);
    SignerRemoved.emit(frame, { public_key: one });
  }
  for (const [index, one] of keys.entries()) {
    await signerKeys.write(frame, [BigInt(index)], one);
    if (await signers.read(frame, one)) continue;
    await signers.write(frame, [one], true);
    SignerAdded.emit(frame, { public_key: one });
  }
  await signerCount.write(frame, BigInt(keys.length));
  if ((await threshold.read(frame)) === needed) return;
  await threshold.write(frame, needed);
  ThresholdChanged.emit(frame, { threshold: needed });
}

/** The current signers who signed. Keys rise strictly, so each counts once; keys of others do not count. */
async function approvals(
  frame: Frame,
  hash: bigint,
  signature: readonly bigint[],
): Promise<{ readonly keys: readonly bigint[] } | { readonly refused: string }> {
  const entries = signature.length / FELTS_PER_SIGNATURE;
  if (entries === 0 || !Number.isInteger(entries) || entries > MAX_TREASURY_SIGNERS) {
    return { refused: 'Treasury: invalid signature' };
  }
  const keys: bigint[] = [];
  let last = 0n;
  for (let index = 0; index < signature.length; index += FELTS_PER_SIGNATURE) {
    const [publicKey = 0n, r = 0n, s = 0n] = signature.slice(index, index + FELTS_PER_SIGNATURE);
    if (publicKey <= last) return { refused: 'Treasury: unordered signatures' };
    last = publicKey;
    if (!(await signers.read(frame, publicKey))) continue;
    if (!verify(hash, publicKey, r, s)) return { refused: 'Treasury: invalid signature' };
    keys.push(publicKey);
  }
  return { keys };
}

async function requireApprovals(frame: Frame, hash: bigint, signature: readonly bigint[]): Promise<readonly bigint[]> {
  const found = await approvals(frame, hash, signature);
  return 'keys' in found ? found.keys : panic(found.refused);
}

async function isEnough(frame: Frame, keys: readonly bigint[]): Promise<boolean> {
  return BigInt(keys.length) >= (await threshold.read(frame));
}

async function putLimit(frame: Frame, { token, ...limited }: Value<typeof terms>): Promise<void> {
  const full = await threshold.read(frame);
  require(limited.threshold > 0n && limited.threshold < full, 'Treasury: invalid limit');
  const empty = token === 0n || limited.max_per_window === 0n || limited.window_seconds === 0n;
  require(!empty, 'Treasury: invalid limit');
  await limits.write(frame, [token], { ...limited, spent_in_window: 0n, window_start: frame.block.timestamp });
  LimitSet.emit(frame, { token, ...limited });
}

/** For fewer approvals than the threshold: transfers of limited tokens only, counted in order. */
async function charge(frame: Frame, approved: number, list: readonly Call[]): Promise<void> {
  require(list.length > 0, NOT_REACHED);
  for (const { to, selector: called, calldata } of list) {
    const current = await limits.read(frame, to);
    const limited = current.window_seconds > 0n && called === TRANSFER;
    require(limited && BigInt(approved) >= current.threshold, NOT_REACHED);
    await limits.write(frame, [to], spend(current, transferAmount(calldata), frame.block.timestamp));
  }
}

function transferAmount(calldata: readonly bigint[]): bigint {
  const reader = new Reader(calldata.slice(1));
  try {
    const amount = u256.read(reader);
    if (reader.left === 0) return amount;
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
  }
  return panic('Treasury: bad calldata');
}

function spend(current: Limit, amount: bigint, now: bigint): Limit {
  const ended = now - current.window_start >= current.window_seconds;
  const spent = ended ? 0n : current.spent_in_window;
  require(amount <= current.max_per_window - spent, 'Treasury: exceeds limit');
  return { ...current, spent_in_window: spent + amount, window_start: ended ? now : current.window_start };
}

const construct = action(
  'constructor',
  { signers: array(felt), threshold: u32, limits: array(terms) },
  async (frame, args) => {
    await replaceSigners(frame, args.signers, args.threshold);
    for (const one of args.limits) await putLimit(frame, one);
  },
);

const accountFunctions = [
  external('__validate__', { calls }, felt, async (frame) => {
    const { hash, signature } = frame.transaction;
    require(await isEnough(frame, await requireApprovals(frame, hash, signature)), NOT_REACHED);
    return VALID;
  }),
  external('__execute__', { calls }, results, (frame, args) => {
    requireProtocol(frame);
    return executeAll(frame, args.calls);
  }),
  view('is_valid_signature', { hash: felt, signature: array(felt) }, felt, async (frame, { hash, signature }) => {
    const found = await approvals(frame, hash, signature);
    return 'keys' in found && (await isEnough(frame, found.keys)) ? VALID : 0n;
  }),
  view('supports_interface', { interface_id: felt }, bool, (_frame, args) =>
    INTERFACES.some((known) => known === args.interface_id),
  ),
  external(
    'execute_from_outside_v2',
    { outside_execution: outsideExecution, signature: span(felt) },
    results,
    async (frame, { outside_execution, signature }) => {
      const execution = readOutsideExecution(outside_execution);
      await admitOutsideExecution(frame, execution, OUTSIDE_TEXTS);
      const hash = outsideExecutionHash(2, execution, frame.address, frame.block.chainId);
      const keys = await requireApprovals(frame, hash, signature);
      const within_limit = !(await isEnough(frame, keys));
      if (within_limit) await charge(frame, keys.length, execution.calls);
      Approved.emit(frame, { nonce: execution.nonce, signers: keys, within_limit });
      return executeAll(frame, execution.calls);
    },
  ),
  view(
    'is_valid_outside_execution_nonce',
    { nonce: felt },
    bool,
    async (frame, { nonce }) => !(await outsideNonces.read(frame, nonce)),
  ),
  action('upgrade', { new_class_hash: classHash }, async (frame, { new_class_hash }) => {
    requireSelf(frame);
    require(new_class_hash !== 0n, 'Treasury: invalid class hash');
    const answer = await frame.libraryCall(new_class_hash, selector('supports_interface'), [TREASURY_INTERFACE]);
    require(answer.length === 1 && answer[0] === 1n, 'Treasury: invalid class hash');
    await frame.replaceClass(new_class_hash);
    Upgraded.emit(frame, { class_hash: new_class_hash });
  }),
];

const signerFunctions = [
  view('get_signers', {}, array(felt), currentSigners),
  view('get_threshold', {}, u32, (frame) => threshold.read(frame)),
  view('is_signer', { public_key: felt }, bool, (frame, { public_key }) => signers.read(frame, public_key)),
  action('set_signers', { signers: array(felt), threshold: u32 }, async (frame, args) => {
    requireSelf(frame);
    await replaceSigners(frame, args.signers, args.threshold);
  }),
];

const limitFunctions = [
  action('set_limit', { terms }, async (frame, args) => {
    requireSelf(frame);
    await putLimit(frame, args.terms);
  }),
  action('remove_limit', { token: address }, async (frame, { token }) => {
    requireSelf(frame);
    await limits.write(frame, [token], NO_LIMIT);
    LimitRemoved.emit(frame, { token });
  }),
  view('get_limit', { token: address }, limit, (frame, { token }) => limits.read(frame, token)),
];

/** The class of `contracts/treasury`, with the same behaviour. */
export const treasury = contract({
  name: 'Treasury',
  classHash: classes.treasury,
  construct,
  functions: [...accountFunctions, ...signerFunctions, ...limitFunctions],
  events: [Approved, Upgraded, SignerAdded, SignerRemoved, ThresholdChanged, LimitSet, LimitRemoved],
});
