import { type Call, CalldataReader, decodeOutsideExecution, selector, toHex } from '@svc/starknet';
import { type ChainEvent, padAddress } from '../chains/starknet/chain.ts';
import { wellKnownName } from './function-names.ts';

type Kind = 'felt' | 'address' | 'u256' | 'u64' | 'u32' | 'selectors';
type Fields = readonly (readonly [name: string, kind: Kind])[];

export interface DecodedValue {
  readonly name: string;
  readonly value: string;
}

const TO_AND_AMOUNT: Fields = [
  ['recipient', 'address'],
  ['amount', 'u256'],
];
const FROM_TO_AND_AMOUNT: Fields = [['sender', 'address'], ...TO_AND_AMOUNT];
const ALLOWANCE: Fields = [
  ['spender', 'address'],
  ['amount', 'u256'],
];
const POLICY_KEY: Fields = [
  ['session_key', 'felt'],
  ['token', 'address'],
];
const POLICY: Fields = [...POLICY_KEY, ['max_per_call', 'u256'], ['max_per_window', 'u256'], ['window_seconds', 'u64']];

const functions: Readonly<Record<string, Fields>> = {
  transfer: TO_AND_AMOUNT,
  transferFrom: FROM_TO_AND_AMOUNT,
  transfer_from: FROM_TO_AND_AMOUNT,
  approve: ALLOWANCE,
  increase_allowance: ALLOWANCE,
  increaseAllowance: ALLOWANCE,
  decrease_allowance: ALLOWANCE,
  decreaseAllowance: ALLOWANCE,
  add_or_update_session_key: [
    ['session_key', 'felt'],
    ['valid_until', 'u64'],
    ['max_calls', 'u32'],
    ['allowed_entrypoints', 'selectors'],
  ],
  revoke_session_key: [['session_key', 'felt']],
  set_spending_policy: POLICY,
  remove_spending_policy: POLICY_KEY,
  upgrade: [['class_hash', 'felt']],
  set_public_key: [['public_key', 'felt']],
};

/** Parties of older tokens stand in the data, those of newer ones in the keys: the order is the same. */
const events: Readonly<Record<string, Fields>> = {
  Transfer: [
    ['from', 'address'],
    ['to', 'address'],
    ['amount', 'u256'],
  ],
  Approval: [
    ['owner', 'address'],
    ['spender', 'address'],
    ['amount', 'u256'],
  ],
  SessionKeyAdded: [
    ['session_key', 'felt'],
    ['valid_until', 'u64'],
    ['max_calls', 'u32'],
  ],
  SessionKeyRevoked: [['session_key', 'felt']],
  SpendingPolicySet: POLICY,
  SpendingPolicyRemoved: POLICY_KEY,
  OwnerAdded: [['new_owner_guid', 'felt']],
  OwnerRemoved: [['removed_owner_guid', 'felt']],
  Upgraded: [['class_hash', 'felt']],
};
const eventNames: ReadonlyMap<bigint, string> = new Map(Object.keys(events).map((name) => [selector(name), name]));

export const nameOfEvent = ({ keys: [kind] }: ChainEvent): string | undefined =>
  kind === undefined ? undefined : eventNames.get(kind);

export function decodeArguments(functionName: string | undefined, calldata: readonly bigint[]) {
  return decode(functionName === undefined ? undefined : functions[functionName], calldata);
}

export function decodeEvent(event: ChainEvent): DecodedValue[] | undefined {
  const name = nameOfEvent(event);
  return decode(name === undefined ? undefined : events[name], [...event.keys.slice(1), ...event.data]);
}

function decode(fields: Fields | undefined, felts: readonly bigint[]): DecodedValue[] | undefined {
  if (!fields) return undefined;
  const reader = new CalldataReader(felts);
  const values = fields.map(([name, kind]) => ({ name, value: readers[kind](reader) }));
  return reader.finish(values);
}

const readers: Readonly<Record<Kind, (reader: CalldataReader) => string>> = {
  felt: (reader) => toHex(reader.felt()),
  address: (reader) => padAddress(reader.address()),
  u256: (reader) => reader.u256().toString(),
  u64: (reader) => reader.uint(64n).toString(),
  u32: (reader) => reader.uint(32n).toString(),
  selectors: (reader) => reader.array(() => readSelector(reader)).join(', '),
};

function readSelector(reader: CalldataReader): string {
  const felt = reader.felt();
  return wellKnownName(felt) ?? toHex(felt);
}

export interface CallOf extends Call {
  readonly caller: bigint;
}

const OUTSIDE_EXECUTION = selector('execute_from_outside_v2');

/** What accounts call: in place of an outside execution, the calls that its owner signed. */
export function flattenCalls(caller: bigint, calls: readonly Call[]): CallOf[] {
  return calls.flatMap((call) => {
    const outside = call.selector === OUTSIDE_EXECUTION ? decodeOutsideExecution(call.calldata) : undefined;
    return outside ? outside.execution.calls.map((inner) => ({ ...inner, caller: call.to })) : [{ ...call, caller }];
  });
}
