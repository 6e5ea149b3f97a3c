import { selector, toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';

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
