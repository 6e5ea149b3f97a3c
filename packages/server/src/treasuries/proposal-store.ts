import type { ProposalEvent, ProposalKind, ProposalState, TreasuryProposal } from '@svc/protocol';
import { ANY_CALLER, type Call, type OutsideExecution, outsideExecutionTypedData, toHex } from '@svc/starknet';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { publishEvent } from '../events/events.ts';
import { queueNotification } from '../mail/mail.ts';
import { readCalls, type StoredCalls, writeCalls } from '../relayer/relay-store.ts';
import { type Policy, requiredSignatures, type TreasuryRow } from './treasury.ts';

/**
 * A removed signer takes READY back to PENDING. After its relay a proposal may end again: by a reorganisation, or by a third party who
 * sends what was signed.
 */
export const nextStates: Readonly<Record<ProposalState, readonly ProposalState[]>> = {
  PENDING: ['READY', 'EXPIRED', 'CANCELLED'],
  READY: ['PENDING', 'EXECUTING', 'EXPIRED', 'CANCELLED'],
  EXECUTING: ['EXECUTED', 'FAILED'],
  EXECUTED: ['FAILED'],
  FAILED: ['EXECUTED'],
  EXPIRED: [],
  CANCELLED: [],
};

export const isOpen = (state: ProposalState): boolean => state === 'PENDING' || state === 'READY';

export interface StoredSignature {
  readonly publicKey: string;
  readonly name: string;
  readonly r: string;
  readonly s: string;
  readonly signedAt: string;
}

export interface ProposalRow {
  readonly id: string;
  readonly treasury_id: string;
  readonly kind: ProposalKind;
  readonly state: ProposalState;
  readonly description: string;
  readonly calls: StoredCalls;
  readonly nonce: string;
  readonly execute_after: bigint;
  readonly expires_at: Date;
  readonly message_hash: string;
  readonly required_signatures: number;
  readonly proposed_by: string;
  readonly proposed_by_name: string;
  readonly policy: Policy | null;
  readonly previous_policy: Policy | null;
  readonly replaces: string | null;
  readonly replaced_by: string | null;
  readonly relay_id: string | null;
  readonly transaction_hash: string | null;
  readonly executed_tx_hash: string | null;
  readonly failure_reason: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly signatures: readonly StoredSignature[];
}

export const proposalColumns = sql`id, treasury_id, kind, state, description, calls, nonce, execute_after, expires_at, message_hash,
  required_signatures, proposed_by, proposed_by_name, policy, previous_policy, replaces, replaced_by, relay_id, transaction_hash,
  executed_tx_hash, failure_reason, created_at, updated_at, (
    select coalesce(jsonb_agg(jsonb_build_object('publicKey', public_key, 'name', name, 'r', r, 's', s, 'signedAt', signed_at)
                              order by signed_at, public_key), '[]')
      from treasury_signatures where proposal_id = treasury_proposals.id) as signatures`;

export function findProposal(reads: Reads, treasuryId: string, id: string): Promise<ProposalRow | undefined> {
  return reads.one<ProposalRow>(sql`
    select ${proposalColumns} from treasury_proposals where id = ${id} and treasury_id = ${treasuryId}`);
}

/** After the treasury's lock, which orders all changes. */
export async function lockProposal(tx: Db, id: string): Promise<ProposalRow> {
  const row = await tx.one<ProposalRow>(sql`
    select ${proposalColumns} from treasury_proposals where id = ${id} for update`);
  if (!row) throw new Error(`The proposal ${id} is gone.`);
  return row;
}

export interface NewProposal {
  readonly id: string;
  readonly kind: ProposalKind;
  readonly description: string;
  readonly execution: OutsideExecution;
  readonly expiresAt: Date;
  readonly messageHash: bigint;
  readonly requiredSignatures: number;
  readonly proposedBy: string;
  readonly proposedByName: string;
  readonly policy?: Policy | undefined;
  readonly replaces?: string | undefined;
}

export async function insertProposal(tx: Db, treasuryId: string, proposal: NewProposal): Promise<void> {
  const { id, kind, description, execution, expiresAt, messageHash, proposedBy, proposedByName, policy } = proposal;
  await tx.run(sql`
    insert into treasury_proposals (id, treasury_id, kind, description, calls, nonce, execute_after, expires_at, message_hash,
                                    required_signatures, proposed_by, proposed_by_name, policy, replaces)
    values (${id}, ${treasuryId}, ${kind}, ${description}, ${JSON.stringify(writeCalls(execution.calls))}::jsonb,
            ${toHex(execution.nonce)}, ${execution.executeAfter}, ${expiresAt}, ${toHex(messageHash)},
            ${proposal.requiredSignatures}, ${proposedBy}, ${proposedByName},
            ${policy === undefined ? null : JSON.stringify(policy)}::jsonb, ${proposal.replaces ?? null})`);
}

/** False where it is not in that state any more. */
export async function changeState(
  tx: Db,
  id: string,
  { from, to, set }: { readonly from: ProposalState; readonly to: ProposalState; readonly set?: Sql },
): Promise<boolean> {
  if (!nextStates[from].includes(to)) return false;
  const changed = await tx.run(sql`
    update treasury_proposals set state = ${to}, updated_at = now() ${set ? sql`, ${set}` : sql``}
     where id = ${id} and state = ${from}`);
  return changed === 1;
}

/** False for one that the signer gave before. */
export async function insertSignature(
  tx: Db,
  proposalId: string,
  { publicKey, name, r, s }: Omit<StoredSignature, 'signedAt'>,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into treasury_signatures (proposal_id, public_key, name, r, s)
    values (${proposalId}, ${publicKey}, ${name}, ${r}, ${s}) on conflict (proposal_id, public_key) do nothing`);
  return inserted === 1;
}

export const callsOfProposal = ({ calls }: Pick<ProposalRow, 'calls'>): Call[] => readCalls(calls);

export function executionOf(proposal: ProposalRow): OutsideExecution {
  return {
    caller: ANY_CALLER,
    nonce: BigInt(proposal.nonce),
    executeAfter: BigInt(proposal.execute_after),
    executeBefore: BigInt(Math.floor(proposal.expires_at.getTime() / 1_000)),
    calls: callsOfProposal(proposal),
  };
}

/** Of those who may sign now; of an ended proposal all. */
export function countedSignatures({ policy }: TreasuryRow, { state, signatures }: ProposalRow): StoredSignature[] {
  if (!isOpen(state)) return [...signatures];
  const current = new Set(policy.signers.map(({ publicKey }) => publicKey));
  return signatures.filter(({ publicKey }) => current.has(publicKey));
}

/** Brings the state to what the signatures are worth under the present policy. */
export async function evaluate(tx: Db, treasury: TreasuryRow, id: string): Promise<ProposalRow> {
  const proposal = await lockProposal(tx, id);
  if (!isOpen(proposal.state)) return proposal;
  const required = requiredSignatures(treasury.policy, callsOfProposal(proposal));
  const to = countedSignatures(treasury, proposal).length >= required ? 'READY' : 'PENDING';
  if (required !== proposal.required_signatures) {
    await tx.run(sql`update treasury_proposals set required_signatures = ${required} where id = ${id}`);
  }
  if (to !== proposal.state) await changeState(tx, id, { from: proposal.state, to });
  return lockProposal(tx, id);
}

export async function evaluateAll(tx: Db, treasury: TreasuryRow): Promise<void> {
  const rows = await tx.rows<{ id: string }>(sql`
    select id from treasury_proposals where treasury_id = ${treasury.id} and state in ('PENDING', 'READY') order by id`);
  for (const { id } of rows) await evaluate(tx, treasury, id);
}

export function toProposal(chainId: bigint, treasury: TreasuryRow, row: ProposalRow): TreasuryProposal {
  return {
    ...withoutSigned(treasury, row),
    calls: row.calls.calls.map(({ to, selector, calldata }) => ({
      contractAddress: to,
      entrypoint: selector,
      calldata: [...calldata],
    })),
    typedData: { ...outsideExecutionTypedData(executionOf(row), chainId) },
  };
}

function withoutSigned(treasury: TreasuryRow, row: ProposalRow): Omit<TreasuryProposal, 'typedData' | 'calls'> {
  const signatures = countedSignatures(treasury, row);
  return {
    id: row.id,
    treasuryId: row.treasury_id,
    kind: row.kind,
    state: row.state,
    description: row.description,
    messageHash: row.message_hash,
    requiredSignatures: row.required_signatures,
    signatures: signatures.map(({ publicKey, name, signedAt }) => ({
      publicKey,
      name,
      signedAt: new Date(signedAt).toISOString(),
    })),
    proposedBy: row.proposed_by_name,
    expiresAt: row.expires_at.toISOString(),
    replaces: row.replaces,
    replacedBy: row.replaced_by,
    transactionHash: row.transaction_hash,
    executedTxHash: row.executed_tx_hash,
    failureReason: row.failure_reason,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

type ProposalEventName = 'created' | 'signed' | 'executed' | 'failed' | 'expired';

/** One of each type for a proposal, and one for each signer. */
export async function publishProposal(
  tx: Db,
  treasury: TreasuryRow,
  row: ProposalRow,
  name: ProposalEventName,
  signedBy?: string,
): Promise<void> {
  const data: ProposalEvent = { ...withoutSigned(treasury, row), proposalId: row.id };
  await publishEvent(tx, {
    organizationId: treasury.organization_id,
    environment: treasury.environment,
    type: `treasury.proposal.${name}`,
    subject: signedBy === undefined ? row.id : `${row.id} ${signedBy}`,
    data: signedBy === undefined ? data : { ...data, signedBy },
  });
}

/** Those with an address, once each. There is no mail about a signature. */
export async function tellSigners(
  tx: Db,
  publicUrl: string,
  treasury: TreasuryRow,
  row: ProposalRow,
  event: Exclude<ProposalEventName, 'signed'>,
): Promise<void> {
  const { organization_id: organizationId, environment, policy, name } = treasury;
  const about = { treasury: name, description: row.description, proposalId: row.id, reason: row.failure_reason };
  const url = `${publicUrl}/dashboard/treasuries/${treasury.id}/${row.id}`;
  const content = { ...about, event, url, expiresAt: row.expires_at.toISOString() };
  for (const recipient of new Set(policy.signers.flatMap(({ email }) => email ?? []))) {
    await queueNotification(tx, { organizationId, environment, recipient, template: 'treasury-proposal', content });
  }
}
