import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, sql } from '@svc/store';
import { recordChange, serviceOf } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import type { Jobs } from '../http/module.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import {
  changeState,
  evaluateAll,
  lockProposal,
  type ProposalRow,
  publishProposal,
  tellSigners,
} from './proposal-store.ts';
import { lockTreasury, markDeployed, renewPolicyNonce, setPolicy, type TreasuryRow } from './treasury.ts';

/** They run in the transaction that stores an outcome and need no relayer. */
export function treasuryOutcomes(publicUrl: string): Pick<OutcomeHandlers, 'treasury' | 'treasury-deployment'> {
  return {
    'treasury-deployment': async (tx, { environment, account, result }) => {
      if (result === 'SUCCEEDED') await markDeployed(tx, environment, account);
    },
    treasury: async (tx, outcome) => {
      const found = await tx.one<{ id: string; treasuryId: string }>(sql`
        select id, treasury_id as "treasuryId" from treasury_proposals where relay_id = ${outcome.relayId}`);
      if (!found) return;
      const treasury = await lockTreasury(tx, found.treasuryId);
      const proposal = await lockProposal(tx, found.id);
      const end = outcome.result === 'SUCCEEDED' ? executed : failed;
      const row = await end(tx, treasury, proposal, outcome);
      if (row) await tellSigners(tx, publicUrl, treasury, row, end === executed ? 'executed' : 'failed');
    },
  };
}

type End = (
  tx: Db,
  treasury: TreasuryRow,
  proposal: ProposalRow,
  outcome: RelayOutcome,
) => Promise<ProposalRow | undefined>;

/** Undefined where it had ended so before. */
const executed: End = async (tx, treasury, proposal, outcome) => {
  const hash = outcome.hash === undefined ? proposal.transaction_hash : toHex(outcome.hash);
  if (hash === null) throw new Error(`The transaction of the proposal ${proposal.id} is not known.`);
  await markDeployed(tx, treasury.environment, BigInt(treasury.address));
  const set = sql`executed_tx_hash = ${hash}, transaction_hash = ${hash}, failure_reason = null`;
  if (!(await changeState(tx, proposal.id, { from: proposal.state, to: 'EXECUTED', set }))) return undefined;
  if (proposal.policy) {
    await tx.run(sql`
      update treasury_proposals set previous_policy = ${JSON.stringify(treasury.policy)}::jsonb where id = ${proposal.id}`);
    await applyPolicy(tx, treasury, proposal.policy);
  }
  const row = await lockProposal(tx, proposal.id);
  await publishProposal(tx, await lockTreasury(tx, treasury.id), row, 'executed');
  await record(tx, treasury, 'treasury.proposal-executed', row.id, { executedTxHash: hash });
  return row;
};

const failed: End = async (tx, treasury, proposal, outcome) => {
  const reason = outcome.revertReason ?? 'The chain did not execute it in time.';
  const set = sql`executed_tx_hash = null, failure_reason = ${reason}`;
  if (!(await changeState(tx, proposal.id, { from: proposal.state, to: 'FAILED', set }))) return undefined;
  if (proposal.policy) {
    // After a reorganisation the chain has the policy of before.
    const isUndone = proposal.state === 'EXECUTED' && proposal.previous_policy;
    await applyPolicy(tx, treasury, isUndone || treasury.policy);
  }
  const row = await lockProposal(tx, proposal.id);
  await publishProposal(tx, treasury, row, 'failed');
  await record(tx, treasury, 'treasury.proposal-failed', row.id, { reason });
  return row;
};

async function applyPolicy(tx: Db, treasury: TreasuryRow, policy: TreasuryRow['policy']): Promise<void> {
  await setPolicy(tx, treasury.id, policy);
  await renewPolicyNonce(tx, treasury.id);
  await evaluateAll(tx, { ...treasury, policy });
}

async function record(tx: Db, treasury: TreasuryRow, action: string, target: string, changes: object): Promise<void> {
  const actor = serviceOf(treasury.organization_id, treasury.environment);
  await recordChange(tx, actor, { action, target, changes: { ...changes } });
}

export interface ExpiryDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly environments: readonly Environment[];
  readonly publicUrl: string;
}

const EVERY_SECONDS = 15;
/** Each is a transaction of its own; the next run continues. */
const MAX_EXPIRED = 100;

export function expiryJobs(deps: ExpiryDeps): Jobs {
  const taskOf = (environment: Environment) => `expire-treasury-proposals-${environment}`;
  return {
    handlers: Object.fromEntries(
      deps.environments.map((each) => [taskOf(each), async () => void (await expireProposals(deps, each))]),
    ),
    recurring: deps.environments.map((each) => ({ task: taskOf(each), everySeconds: EVERY_SECONDS })),
  };
}

/** Answers how many ended. */
export async function expireProposals(
  { db, networks, publicUrl }: ExpiryDeps,
  environment: Environment,
): Promise<number> {
  const now = await networks.starknet(environment).time();
  const due = await db.rows<{ id: string; treasuryId: string }>(sql`
    select treasury_proposals.id, treasury_id as "treasuryId"
      from treasury_proposals join treasuries on treasuries.id = treasury_id
     where environment = ${environment} and state in ('PENDING', 'READY') and expires_at <= ${now}
     order by expires_at limit ${MAX_EXPIRED}`);
  for (const { id, treasuryId } of due) {
    await db.tx(async (tx) => {
      const treasury = await lockTreasury(tx, treasuryId);
      const { state } = await lockProposal(tx, id);
      if (!(await changeState(tx, id, { from: state, to: 'EXPIRED' }))) return;
      const row = await lockProposal(tx, id);
      await publishProposal(tx, treasury, row, 'expired');
      await record(tx, treasury, 'treasury.proposal-expired', id, {});
      await tellSigners(tx, publicUrl, treasury, row, 'expired');
    });
  }
  return due.length;
}
