import { type Call, CalldataReader, decodeOutsideExecution, selector, toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { type ChainEvent, padAddress } from '../chains/starknet/chain.ts';

/** Room for an organisation's own functions, not for a flood of made-up names. */
const MAX_NAMES = 1_000;
/** A name has to last from preparation to execution, an hour at most. */
const KEPT = sql`interval '1 day'`;
const RENEWED_AFTER = sql`interval '1 hour'`;

interface NamedFunction {
  readonly selector: bigint;
  readonly name: string | undefined;
}

/** Signed calls carry selectors only. */
export async function storeNames(db: Db, organizationId: string, named: readonly NamedFunction[]): Promise<void> {
  const names = new Map(
    named.flatMap(({ selector, name }) =>
      name === undefined || wellKnownName(selector) !== undefined ? [] : [[toHex(selector), name] as const],
    ),
  );
  if (names.size === 0) return;
  // One order, to avoid deadlocks.
  await db.run(sql`
    insert into function_names as known (organization_id, selector, name)
    select ${organizationId}, selector, name
      from unnest(${[...names.keys()]}::text[], ${[...names.values()]}::text[]) as given (selector, name)
     where (select count(*) from function_names where organization_id = ${organizationId}) < ${MAX_NAMES}
     order by selector
    on conflict (organization_id, selector) do update set used_at = now()
     where known.used_at < now() - ${RENEWED_AFTER}`);
}

export async function namesOf(
  reads: Reads,
  organizationId: string,
  selectors: Iterable<bigint>,
): Promise<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  const unknown: string[] = [];
  for (const selector of new Set(selectors)) {
    const name = wellKnownName(selector);
    if (name === undefined) unknown.push(toHex(selector));
    else names.set(selector, name);
  }
  if (unknown.length === 0) return names;
  const rows = await reads.rows<{ selector: string; name: string }>(sql`
    select selector, name from function_names
     where organization_id = ${organizationId} and selector = any(${unknown}::text[])`);
  for (const { selector, name } of rows) names.set(BigInt(selector), name);
  return names;
}

export async function deleteUnusedNames(db: Db): Promise<void> {
  await db.run(sql`delete from function_names where used_at < now() - ${KEPT}`);
}

/** Well-known names, because a selector does not reveal its name. */
// biome-ignore format: a table reads better than sixty lines
const names = [
  'transfer', 'transferFrom', 'transfer_from', 'approve', 'increase_allowance', 'increaseAllowance',
  'decrease_allowance', 'decreaseAllowance', 'mint', 'burn', 'safe_transfer_from', 'safeTransferFrom',
  'set_approval_for_all', 'setApprovalForAll',
  'add_or_update_session_key', 'revoke_session_key', 'set_spending_policy', 'remove_spending_policy', 'upgrade',
  'set_public_key', 'setPublicKey', 'change_owner', 'change_guardian',
  'swap', 'multi_route_swap', 'swap_exact_token_to', 'swap_exact_tokens_for_tokens', 'swap_tokens_for_exact_tokens',
  'multihop_swap', 'multi_multihop_swap', 'clear', 'clear_minimum', 'add_liquidity', 'remove_liquidity',
  'deposit', 'withdraw', 'redeem', 'claim', 'claim_rewards', 'stake', 'unstake', 'enter_delegation_pool',
  'add_to_delegation_pool', 'exit_delegation_pool_intent', 'exit_delegation_pool_action', 'deposit_for_burn',
  'initiate_token_withdraw', 'initiate_withdraw', 'receive_message',
  'deploy_contract', 'deployContract', 'fund', 'rollover', 'ragequit',
] as const;

export const TRANSFER = 'transfer' satisfies (typeof names)[number];
export const TRANSFER_FUNCTION = selector(TRANSFER);

const bySelector: ReadonlyMap<bigint, string> = new Map(names.map((name) => [selector(name), name]));

export function wellKnownName(functionSelector: bigint): string | undefined {
  return bySelector.get(functionSelector);
}

type Kind = 'felt' | 'address' | 'u256' | 'u64' | 'u32' | 'selectors';
type Fields = readonly (readonly [name: string, kind: Kind])[];

interface DecodedValue {
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
