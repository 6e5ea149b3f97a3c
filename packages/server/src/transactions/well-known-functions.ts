import { selector } from '@svc/starknet';

/** A selector is a hash of its function's name and does not tell it; these need not be told. */
// biome-ignore format: a table reads better than sixty lines
const names = [
  // Tokens
  'transfer', 'transferFrom', 'transfer_from', 'approve', 'increase_allowance', 'increaseAllowance',
  'decrease_allowance', 'decreaseAllowance', 'mint', 'burn', 'safe_transfer_from', 'safeTransferFrom',
  'set_approval_for_all', 'setApprovalForAll',
  // The wallets themselves
  'add_or_update_session_key', 'revoke_session_key', 'set_spending_policy', 'remove_spending_policy', 'upgrade',
  'set_public_key', 'setPublicKey', 'change_owner', 'change_guardian',
  // Exchanges, vaults, staking and bridges
  'swap', 'multi_route_swap', 'swap_exact_token_to', 'swap_exact_tokens_for_tokens', 'swap_tokens_for_exact_tokens',
  'multihop_swap', 'multi_multihop_swap', 'clear', 'clear_minimum', 'add_liquidity', 'remove_liquidity',
  'deposit', 'withdraw', 'redeem', 'claim', 'claim_rewards', 'stake', 'unstake', 'enter_delegation_pool',
  'add_to_delegation_pool', 'exit_delegation_pool_intent', 'exit_delegation_pool_action', 'deposit_for_burn',
  'initiate_token_withdraw', 'initiate_withdraw', 'receive_message',
  // Deployment
  'deploy_contract', 'deployContract',
] as const;

export const TRANSFER = 'transfer' satisfies (typeof names)[number];
export const TRANSFER_FUNCTION = selector(TRANSFER);

const bySelector: ReadonlyMap<bigint, string> = new Map(names.map((name) => [selector(name), name]));

export function wellKnownName(functionSelector: bigint): string | undefined {
  return bySelector.get(functionSelector);
}
