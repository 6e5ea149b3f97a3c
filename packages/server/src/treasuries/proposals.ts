import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type endpoints,
  type QueryOf,
  type TreasuryProposal,
} from '@svc/protocol';
import { encodeTreasurySignature, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import { type Call, type Caller, microsOf, olderThan, type Place, readCursor, toCursorPage } from '../http/call.ts';
import { readFelt } from '../http/validation.ts';
import { isOpen as isRelayOpen } from '../relayer/relay.ts';
import { findRelay } from '../relayer/relay-store.ts';
import { requireAllowedCalls } from '../relayer/sponsorship.ts';
import { readSignature } from '../wallets/signed-execution.ts';
import {
  changeState,
  countedSignatures,
  evaluate,
  executionOf,
  findProposal,
  insertSignature,
  isOpen,
  lockProposal,
  type ProposalRow,
  proposalColumns,
  publishProposal,
  toProposal,
} from './proposal-store.ts';
import {
  deploymentOf,
  lockTreasury,
  requireTreasury,
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
