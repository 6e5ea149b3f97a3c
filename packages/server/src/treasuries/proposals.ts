import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type Environment,
  type endpoints,
  type QueryOf,
  type TreasuryProposal,
} from '@svc/protocol';
import { encodeTreasurySignature, toHex } from '@svc/starknet';
import { type Database, type Db, sql } from '@svc/store';
import { recordChange, serviceOf } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import { type Call, type Caller, microsOf, olderThan, type Place, readCursor, toCursorPage } from '../http/call.ts';
import type { Jobs } from '../http/module.ts';
import { readFelt } from '../http/validation.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import { isOpen as isRelayOpen } from '../relayer/relay.ts';
import { findRelay } from '../relayer/relay-store.ts';
import { requireAllowedCalls } from '../relayer/sponsorship.ts';
import { readSignature } from '../wallets/signed-execution.ts';
import {
  changeState,
  countedSignatures,
  evaluate,
  evaluateAll,
  executionOf,
  findProposal,
  insertSignature,
  isOpen,
  lockProposal,
  type ProposalRow,
  proposalColumns,
  publishProposal,
  tellSigners,
  toProposal,
} from './proposal-store.ts';
import {
  deploymentOf,
  lockTreasury,
  markDeployed,
  renewPolicyNonce,
  requireTreasury,
  setPolicy,
  sponsoredUser,
  type TreasuryDeps,
  type TreasuryRow,
} from './treasury.ts';

interface Found {
  readonly treasury: TreasuryRow;
  readonly proposal: ProposalRow;
}

interface ProposalPlace {
  readonly id: string;
  readonly proposalId: string;
}

async function requireProposal(
  { db }: TreasuryDeps,
  caller: Caller,
  { id, proposalId }: ProposalPlace,
): Promise<Found> {
  const treasury = await requireTreasury(db.reads, caller, id);
  const proposal = await findProposal(db.reads, treasury.id, proposalId);
  if (!proposal) throw new ApiError('proposal_not_found');
  return { treasury, proposal };
}

const shown = ({ networks }: TreasuryDeps, { treasury, proposal }: Found): TreasuryProposal =>
  toProposal(networks.starknet(treasury.environment).chain.chainId, treasury, proposal);

export async function getProposal(deps: TreasuryDeps, caller: Caller, place: ProposalPlace): Promise<TreasuryProposal> {
  return shown(deps, await requireProposal(deps, caller, place));
}

type List = typeof endpoints.listTreasuryProposals;

export async function listProposals(
  deps: TreasuryDeps,
  caller: Caller,
  id: string,
  query: QueryOf<List>,
): Promise<AnswerOf<List>> {
  const treasury = await requireTreasury(deps.db.reads, caller, id);
  const { limit, after } = readCursor(query);
  const ofState = query.state === undefined ? sql`` : sql`and state = ${query.state}`;
  const rows = await deps.db.lists.rows<ProposalRow & Place>(
    sql`
      select ${proposalColumns}, ${microsOf(sql`created_at`)} as micros from treasury_proposals
       where treasury_id = ${treasury.id} ${ofState} ${olderThan(after, sql`created_at`, sql`id`)}
       order by created_at desc, id desc limit ${limit + 1}`.unnamed,
  );
  return toCursorPage(rows, limit, (proposal) => shown(deps, { treasury, proposal }));
}

type SignBody = BodyOf<typeof endpoints.signTreasuryProposal>;

/** Verified over this proposal's own hash: a signature of another proposal, treasury or chain is none. */
export async function signProposal(
  deps: TreasuryDeps,
  caller: Caller,
  place: ProposalPlace,
  body: SignBody,
): Promise<TreasuryProposal> {
  deps.networks.starknet(caller.environment);
  const publicKey = readFelt(body.publicKey, 'body.publicKey');
  const [r = 0n, s = 0n] = readSignature(body.signature, 'body.signature');
  const { treasury, proposal } = await requireProposal(deps, caller, place);
  await requireOpen(deps, treasury, proposal);
  requireSigner(treasury, publicKey);
  const { chainId } = deps.networks.starknet(treasury.environment).chain;
  const account = BigInt(treasury.address);
  const check = { execution: executionOf(proposal), account, chainId, keys: [publicKey], signature: { r, s } };
  if ((await deps.crypto.checkExecution(check)).signer === undefined) {
    throw new ApiError(
      'invalid_signature',
      'The signature does not verify. Sign the typed data of this proposal, for this treasury.',
    );
  }
  return deps.db.tx(async (tx) => {
    const current = await lockTreasury(tx, treasury.id);
    const locked = await lockProposal(tx, proposal.id);
    if (!isOpen(locked.state)) throw new ApiError('proposal_not_open');
    const { name } = requireSigner(current, publicKey);
    const signature = { publicKey: toHex(publicKey), name, r: toHex(r), s: toHex(s) };
    const isNew = await insertSignature(tx, proposal.id, signature);
    const row = await evaluate(tx, current, proposal.id);
    if (isNew) {
      await publishProposal(tx, current, row, 'signed', signature.publicKey);
      const changes = { publicKey: signature.publicKey, state: row.state };
      await recordChange(tx, caller, { action: 'treasury.proposal-signed', target: row.id, changes });
    }
    return toProposal(chainId, current, row);
  });
}

function requireSigner({ policy }: TreasuryRow, publicKey: bigint) {
  const signer = policy.signers.find((one) => BigInt(one.publicKey) === publicKey);
  if (!signer) throw new ApiError('not_a_signer');
  return signer;
}

/** By the chain's time, which is what the contract compares. */
async function requireOpen({ networks }: TreasuryDeps, treasury: TreasuryRow, row: ProposalRow): Promise<void> {
  const now = await networks.starknet(treasury.environment).time();
  if (isOpen(row.state) && now < row.expires_at) return;
  const state = isOpen(row.state) ? 'EXPIRED' : row.state;
  throw new ApiError('proposal_not_open', `The proposal is ${state}.`);
}

/**
 * Stored with its relay in one transaction, then sent. Only READY becomes EXECUTING, and only here, so what was cancelled or replaced
 * meanwhile is never stored.
 */
export async function executeProposal(
  deps: TreasuryDeps,
  caller: Caller,
  place: ProposalPlace,
): Promise<TreasuryProposal> {
  const { db, sponsor } = deps;
  deps.networks.starknet(caller.environment);
  const found = await requireProposal(deps, caller, place);
  const { treasury, proposal } = found;
  if (proposal.state === 'EXECUTING' || proposal.state === 'EXECUTED') return shown(deps, found);
  await requireOpen(deps, treasury, proposal);
  const signatures = countedSignatures(treasury, proposal);
  if (proposal.state !== 'READY') {
    const { required_signatures: required } = proposal;
    throw new ApiError('proposal_not_ready', `The proposal has ${signatures.length} of ${required} signatures.`);
  }
  const { environment } = treasury;
  const account = BigInt(treasury.address);
  const execution = executionOf(proposal);
  if (proposal.kind !== 'POLICY') await requireAllowedCalls(db.reads, caller, account, execution.calls);
  const deployment = await missingDeployment(deps, treasury);
  const signature = encodeTreasurySignature(
    signatures.map(({ publicKey, r, s }) => ({ publicKey: BigInt(publicKey), r: BigInt(r), s: BigInt(s) })),
  );
  const user = sponsoredUser(treasury);
  const about = { kind: 'treasury', environment, account, deployment, user } as const;
  await sponsor.sponsor(
    { ...about, execution, signature, messageHash: BigInt(proposal.message_hash) },
    async (tx, relay) => {
      const transactionHash = relay.hash === undefined ? null : toHex(relay.hash);
      await begin(tx, found, relay.id, transactionHash);
      const changes = { transactionHash, signers: signatures.map(({ publicKey }) => publicKey) };
      await recordChange(tx, caller, { action: 'treasury.proposal-executing', target: proposal.id, changes });
    },
  );
  return getProposal(deps, caller, place);
}

async function begin(tx: Db, { treasury, proposal }: Found, relayId: string, hash: string | null): Promise<void> {
  const current = await lockTreasury(tx, treasury.id);
  // The signatures were counted under this policy.
  if (current.policy_nonce !== treasury.policy_nonce) throw new ApiError('proposal_not_ready', POLICY_CHANGED);
  const set = sql`relay_id = ${relayId}, transaction_hash = ${hash}`;
  if (await changeState(tx, proposal.id, { from: 'READY', to: 'EXECUTING', set })) return;
  throw new ApiError('proposal_not_open');
}

const POLICY_CHANGED = 'The policy of the treasury has just changed. Try again.';

/** The first execution deploys where the deployment failed; one that is under way is not raced. */
async function missingDeployment({ db, networks }: TreasuryDeps, treasury: TreasuryRow) {
  if (treasury.is_deployed) return undefined;
  // Read before the chain, so that a relay that ends in between is seen there.
  const relay = treasury.relay_id === null ? undefined : await findRelay(db.reads, treasury.relay_id);
  const { chain } = networks.starknet(treasury.environment);
  if ((await chain.classHashAt(BigInt(treasury.address), 'pre_confirmed')) !== undefined) return undefined;
  if (relay && isRelayOpen(relay.state)) {
    throw new ApiError('chain_unavailable', 'The treasury is being deployed. Try again in a few seconds.');
  }
  return deploymentOf(treasury);
}

type Cancel = typeof endpoints.cancelTreasuryProposal;

export async function cancelProposal(deps: TreasuryDeps, { caller, params, transact }: Call<Cancel>) {
  const { treasury, proposal } = await requireProposal(deps, caller, params);
  const { chainId } = deps.networks.starknet(treasury.environment).chain;
  requireProposer(caller, proposal);
  return transact(async (tx) => {
    const current = await lockTreasury(tx, treasury.id);
    const { state } = await lockProposal(tx, proposal.id);
    if (state !== 'CANCELLED') {
      if (!isOpen(state)) throw new ApiError('proposal_not_open', `The proposal is ${state}.`);
      await changeState(tx, proposal.id, { from: state, to: 'CANCELLED' });
      await recordChange(tx, caller, { action: 'treasury.proposal-cancelled', target: proposal.id, changes: {} });
    }
    return toProposal(chainId, current, await lockProposal(tx, proposal.id));
  });
}

/** Keys are replaced, so what counts as a secret key stands for the one that made it. */
function requireProposer(caller: Caller, { proposed_by }: ProposalRow): void {
  if (!proposed_by.startsWith('member:') || caller.keyId === proposed_by) return;
  throw new ApiError('not_the_proposer');
}

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
