import {
  ApiError,
  type BodyOf,
  type endpoints,
  type ProposalKind,
  parseTokenAmount,
  type TreasuryProposal,
} from '@svc/protocol';
import { ANY_CALLER, type Call, encodeU256, selector } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Answer, Caller, Call as HttpCall } from '../http/call.ts';
import { readAddress, readMoment, refuse } from '../http/validation.ts';
import { randomNonce } from '../relayer/relay.ts';
import { requireAllowedCalls } from '../relayer/sponsorship.ts';
import { readCalls } from '../transactions/execute.ts';
import { newId } from '../util/ids.ts';
import {
  changeState,
  findProposal,
  insertProposal,
  isOpen,
  lockProposal,
  type ProposalRow,
  publishProposal,
  tellSigners,
  toProposal,
} from './proposal-store.ts';
import {
  lockTreasury,
  type Policy,
  policyCalls,
  readPolicy,
  requiredSignatures,
  requireToken,
  requireTreasury,
  shownLimits,
  type TreasuryDeps,
  type TreasuryRow,
} from './treasury.ts';

type Create = typeof endpoints.createTreasuryProposal;
type Change = typeof endpoints.changeTreasuryPolicy;

const MAX_OPEN = 200;
const BEFORE_NOW_SECONDS = 60n;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;
/** A forgotten signature must not be good for ever. */
const MAX_DAYS = 30;
/** Less leaves no time to sign. */
const MIN_MS = 60_000;

export async function createProposal(deps: TreasuryDeps, call: HttpCall<Create>): Promise<Answer<Create>> {
  const { caller, params, body } = call;
  deps.networks.starknet(caller.environment);
  const treasury = await requireTreasury(deps.db.reads, caller, params.id);
  const calls = readProposed(deps, treasury, body);
  await requireAllowedCalls(deps.db.reads, caller, BigInt(treasury.address), calls);
  const replaces = body.replaces === undefined ? undefined : await requireReplaced(deps, treasury, body.replaces);
  const nonce = replaces === undefined ? randomNonce() : BigInt(replaces.nonce);
  const kind = body.transfers ? 'TRANSFERS' : 'CALLS';
  const { description, expiresAt } = body;
  const draft = await draftOf(deps, treasury, { kind, calls, nonce, description, expiresAt });
  return call.transact((tx) => store(tx, deps, caller, { ...draft, replaces: replaces?.id }));
}

async function requireReplaced({ db }: TreasuryDeps, { id }: TreasuryRow, replaces: string): Promise<ProposalRow> {
  const replaced = await findProposal(db.reads, id, replaces);
  if (!replaced) throw new ApiError('proposal_not_found', 'The treasury has no proposal with the id of replaces.');
  if (replaced.kind === 'POLICY') refuse('body.replaces', 'is a change of the policy: propose another policy');
  return replaced;
}

/** All changes of a policy share a nonce until one was relayed, so of several that signers approved the chain executes one. */
export async function changePolicy(deps: TreasuryDeps, call: HttpCall<Change>): Promise<Answer<Change>> {
  const { caller, params, body } = call;
  deps.networks.starknet(caller.environment);
  const treasury = await requireTreasury(deps.db.reads, caller, params.id);
  const policy = changedPolicy(deps, treasury, body);
  const calls = policyCalls(BigInt(treasury.address), treasury.policy, policy);
  if (calls.length === 0) refuse('body', 'changes neither signers, nor threshold, nor limits');
  const nonce = BigInt(treasury.policy_nonce);
  const { description, expiresAt } = body;
  const draft = await draftOf(deps, treasury, { kind: 'POLICY', calls, nonce, policy, description, expiresAt });
  return call.transact(async (tx) => {
    const current = await lockTreasury(tx, treasury.id);
    const open = await tx.one<{ id: string }>(sql`
      select id from treasury_proposals
       where treasury_id = ${treasury.id} and kind = 'POLICY' and state in ('PENDING', 'READY', 'EXECUTING')`);
    // Another change was relayed since the policy was read.
    if (current.policy_nonce !== treasury.policy_nonce) throw new ApiError('proposal_not_open', UNDER_WAY);
    return store(tx, deps, caller, { ...draft, replaces: open?.id });
  });
}

const UNDER_WAY = 'A change of the policy is under way. Propose yours when it has ended.';

function changedPolicy({ networks }: TreasuryDeps, treasury: TreasuryRow, body: BodyOf<Change>): Policy {
  const { environment, policy } = treasury;
  return readPolicy(networks, environment, {
    threshold: body.threshold ?? policy.threshold,
    signers: body.signers ?? policy.signers.map((signer) => ({ ...signer })),
    limits: body.limits ?? shownLimits(networks, environment, policy),
  });
}

function readProposed(deps: TreasuryDeps, treasury: TreasuryRow, body: BodyOf<Create>): Call[] {
  const { transfers, calls } = body;
  if ((transfers === undefined) === (calls === undefined)) refuse('body', 'must have either transfers or calls');
  if (calls) return requireOthers(treasury, readCalls(calls));
  return (transfers ?? []).map(({ token, recipient, amount: text }, index) => {
    const { address, decimals } = requireToken(deps.networks, treasury.environment, token);
    const amount = parseTokenAmount(text, decimals);
    if (!amount.ok) refuse(`body.transfers[${index}].amount`, amount.reason);
    if (amount.value === 0n) refuse(`body.transfers[${index}].amount`, 'must be above zero');
    const to = BigInt(readAddress(recipient, `body.transfers[${index}].recipient`));
    return { to: BigInt(address), selector: selector('transfer'), calldata: [to, ...encodeU256(amount.value)] };
  });
}

const POLICY_ENTRYPOINTS = ['set_signers', 'set_limit', 'remove_limit', 'execute_from_outside_v2', '__execute__'].map(
  selector,
);

/** The service must know of every change of the policy. */
function requireOthers({ address }: TreasuryRow, calls: readonly Call[]): Call[] {
  const index = calls.findIndex(
    ({ to, selector: called }) => to === BigInt(address) && POLICY_ENTRYPOINTS.includes(called),
  );
  if (index >= 0) refuse(`body.calls[${index}]`, 'changes the treasury itself: use PATCH /treasuries/{id}/policy');
  return calls.map(({ to, selector: called, calldata }) => ({ to, selector: called, calldata }));
}

interface Proposed {
  readonly kind: ProposalKind;
  readonly calls: readonly Call[];
  readonly nonce: bigint;
  readonly policy?: Policy;
  readonly description?: string | undefined;
  readonly expiresAt?: string | undefined;
}

type Draft = Awaited<ReturnType<typeof draftOf>>;

async function draftOf({ networks, crypto }: TreasuryDeps, treasury: TreasuryRow, proposed: Proposed) {
  const { kind, calls, nonce, policy, description = '' } = proposed;
  const network = networks.starknet(treasury.environment);
  const now = (await network.time()).getTime();
  const expiresAt = readExpiry(proposed.expiresAt, now);
  const execution = {
    caller: ANY_CALLER,
    nonce,
    executeAfter: BigInt(Math.floor(now / 1_000)) - BEFORE_NOW_SECONDS,
    executeBefore: BigInt(expiresAt.getTime() / 1_000),
    calls,
  };
  const messageHash = await crypto.executionHash(execution, BigInt(treasury.address), network.chain.chainId);
  return { treasury, kind, description, execution, expiresAt, messageHash, policy, chainId: network.chain.chainId };
}

/** In whole seconds, as the chain counts. */
function readExpiry(text: string | undefined, now: number): Date {
  const at = text === undefined ? now + DEFAULT_DAYS * DAY_MS : readMoment(text, 'body.expiresAt').getTime();
  if (at < now + MIN_MS) refuse('body.expiresAt', 'must be a minute ahead at least');
  if (at > now + MAX_DAYS * DAY_MS) refuse('body.expiresAt', `must be within ${MAX_DAYS} days`);
  return new Date(Math.floor(at / 1_000) * 1_000);
}

async function store(
  tx: Db,
  deps: TreasuryDeps,
  caller: Caller,
  { replaces, chainId, ...draft }: Draft & { readonly replaces?: string | undefined },
): Promise<TreasuryProposal> {
  const treasury = await lockTreasury(tx, draft.treasury.id);
  await requireRoom(tx, treasury.id);
  const id = newId('tpr');
  if (replaces !== undefined) await replace(tx, replaces, id);
  await insertProposal(tx, treasury.id, {
    ...draft,
    id,
    replaces,
    requiredSignatures: requiredSignatures(treasury.policy, draft.execution.calls),
    proposedBy: caller.secretKeyId ?? caller.keyId,
    proposedByName: caller.member?.email ?? caller.secretKeyId ?? caller.keyId,
  });
  const row = await lockProposal(tx, id);
  await publishProposal(tx, treasury, row, 'created');
  const changes = { treasuryId: treasury.id, kind: row.kind, messageHash: row.message_hash, replaces: row.replaces };
  await recordChange(tx, caller, { action: 'treasury.proposal-created', target: id, changes });
  await tellSigners(tx, deps.publicUrl, treasury, row, 'created');
  return toProposal(chainId, treasury, row);
}

async function requireRoom(tx: Db, treasuryId: string): Promise<void> {
  const row = await tx.one<{ open: number }>(sql`
    select count(*)::integer as open from treasury_proposals
     where treasury_id = ${treasuryId} and state in ('PENDING', 'READY', 'EXECUTING')`);
  if ((row?.open ?? 0) >= MAX_OPEN) throw new ApiError('proposal_limit_reached');
}

async function replace(tx: Db, replaced: string, by: string): Promise<void> {
  const { state } = await lockProposal(tx, replaced);
  const done =
    isOpen(state) && (await changeState(tx, replaced, { from: state, to: 'CANCELLED', set: sql`replaced_by = ${by}` }));
  if (!done) throw new ApiError('proposal_not_open', 'The proposal to be replaced is under way or has ended.');
}
