import { ApiError, type Environment, formatUsd } from '@svc/protocol';
import { selector, toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange, serviceOf } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import { padAddress, transfersIn } from '../chains/starknet/chain.ts';
import type { Jobs } from '../http/module.ts';
import type { JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers } from '../relayer/outcome.ts';
import type { Payer } from '../relayer/payer.ts';
import type { Sponsor } from '../relayer/relay.ts';
import { errorText } from '../util/text.ts';
import { type AddressRow, addressColumns, addressOfRow, type DepositAddress } from './deposit-address.ts';

export interface SweepDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly payer: Pick<Payer, 'manager' | 'publicKey' | 'signExecution'>;
  readonly sponsor: Sponsor;
  readonly log: JobLog;
}

/** 1 USDC: less is not worth the gas, and waits for more. */
export const MIN_SWEEP = 1_000_000n;
/** Each is estimated and sent within seconds; the next run continues. */
const MAX_SWEEPS = 20;
const RETRY_SECONDS = 60;
const EVERY_SECONDS = 15;

export interface SweepJobDeps extends SweepDeps {
  readonly environments: readonly Environment[];
}

export function sweepJobs(deps: SweepJobDeps): Jobs {
  const taskOf = (environment: Environment) => `sweep-deposits-${environment}`;
  return {
    handlers: Object.fromEntries(
      deps.environments.map((each) => [
        taskOf(each),
        (_: unknown, { signal }: { signal: AbortSignal }) => sweepDeposits(deps, each, signal),
      ]),
    ),
    recurring: deps.environments.map((each) => ({ task: taskOf(each), everySeconds: EVERY_SECONDS })),
  };
}

/** Sends USDC of deposit addresses to the manager, who pays with it. */
export async function sweepDeposits(deps: SweepDeps, environment: Environment, signal?: AbortSignal): Promise<void> {
  const { db, payer, log } = deps;
  const publicKey = payer.publicKey(environment);
  if (publicKey === undefined) return;
  for (const due of await dueSweeps(db.reads, environment, publicKey)) {
    if (signal?.aborted) return;
    await sweep(deps, due).catch(async (error: unknown) => {
      log.warn({ address: due.address, reason: errorText(error) }, 'deposit address not swept');
      await postponeSweep(db, due);
    });
  }
}

/** The balance decides, so that a sweep may be lost, repeated or made by anyone. */
async function sweep({ db, networks, payer, sponsor }: SweepDeps, due: DueSweep): Promise<void> {
  const { environment } = due;
  const { chain } = networks.starknet(environment);
  const usdc = BigInt(networks.token(environment, 'STARKNET', 'USDC')?.address ?? 0);
  const account = BigInt(due.address);
  const balance = await chain.balanceOf(usdc, account);
  if (balance < MIN_SWEEP) return clearSweep(db, due);
  const isDeployed = (await chain.classHashAt(account, 'pre_confirmed')) !== undefined;
  const deployment = isDeployed ? undefined : due.deployment;
  const calldata = [payer.manager(environment), balance & WORD, balance >> WORD_BITS];
  const calls = [{ to: usdc, selector: selector('transfer'), calldata }];
  const execution = await sponsor.prepare({ environment, account, deployment, calls });
  const signed = await payer.signExecution(environment, account, execution);
  const user = { organizationId: due.organizationId, externalUserId: undefined };
  const sponsorship = { environment, account, deployment, execution, ...signed, kind: 'sweep', user } as const;
  await sponsor.sponsor(sponsorship, (tx, { id }) => beginSweep(tx, due, id));
}

const WORD_BITS = 128n;
const WORD = 2n ** WORD_BITS - 1n;

/** A failed one is tried again later, one that succeeded leaves nothing, and the balance shows it. */
export function sweepOutcomes(): Pick<OutcomeHandlers, 'sweep'> {
  return {
    sweep: async (tx, { relayId, environment, account, result, receipt }) => {
      const address = padAddress(account);
      const seconds = result === 'SUCCEEDED' ? 0 : RETRY_SECONDS;
      const organizationId = await endSweep(tx, { environment, address, relayId }, seconds);
      if (result !== 'SUCCEEDED' || !receipt || organizationId === undefined) return;
      const amount = transfersIn(receipt).reduce(
        (sum, { from, amount }) => (from === account ? sum + amount : sum),
        0n,
      );
      const changes = { amountUsd: formatUsd(amount), transactionHash: toHex(receipt.transactionHash) };
      const actor = serviceOf(organizationId, environment);
      await recordChange(tx, actor, { action: 'deposit.swept', target: address, changes });
    },
  };
}

export async function requestSweep(tx: Db, environment: Environment, addresses: readonly string[]): Promise<void> {
  await tx.run(sql`
    update deposit_addresses set sweep_at = clock_timestamp(), unswept_since = coalesce(unswept_since, now())
     where environment = ${environment} and address = any(${addresses})`);
}

interface DueSweep extends DepositAddress {
  readonly relayId: string | null;
  /** As the database writes it, with microseconds. */
  readonly sweepAt: string;
}

/** Twice the window of an outside execution: by then a stored sweep cannot be executed any more. */
const OVER_AFTER_HOURS = 2;

async function dueSweeps(reads: Reads, environment: Environment, publicKey: bigint): Promise<DueSweep[]> {
  const rows = await reads.rows<AddressRow & Pick<DueSweep, 'relayId' | 'sweepAt'>>(sql`
    select ${addressColumns}, relay_id as "relayId", sweep_at::text as "sweepAt"
      from deposit_addresses
     where environment = ${environment} and public_key = ${toHex(publicKey)} and sweep_at <= now()
       and (relay_id is null or exists (
         select from relays
          where id = relay_id and created_at < now() - make_interval(hours => ${OVER_AFTER_HOURS})))
     order by sweep_at limit ${MAX_SWEEPS}`);
  return rows.map((row) => ({ ...addressOfRow(row), relayId: row.relayId, sweepAt: row.sweepAt }));
}

async function beginSweep(tx: Db, { environment, address, relayId }: DueSweep, id: string): Promise<void> {
  const begun = await tx.run(sql`
    update deposit_addresses set relay_id = ${id}
     where environment = ${environment} and address = ${address} and relay_id is not distinct from ${relayId}`);
  if (begun === 0) throw new ApiError('chain_unavailable', 'Another process sweeps this address.');
}

/** Unless something has arrived since `sweepAt` was read. */
async function clearSweep(db: Db, { environment, address, sweepAt }: DueSweep): Promise<void> {
  await db.run(sql`
    update deposit_addresses set sweep_at = null, unswept_since = null
     where environment = ${environment} and address = ${address} and sweep_at = ${sweepAt}::timestamptz`);
}

async function postponeSweep(db: Db, { environment, address, sweepAt }: DueSweep): Promise<void> {
  await db.run(sql`
    update deposit_addresses set sweep_at = now() + make_interval(secs => ${RETRY_SECONDS})
     where environment = ${environment} and address = ${address} and sweep_at = ${sweepAt}::timestamptz`);
}

interface EndedSweep {
  readonly environment: Environment;
  readonly address: string;
  readonly relayId: string;
}

async function endSweep(
  tx: Db,
  { environment, address, relayId }: EndedSweep,
  seconds: number,
): Promise<string | undefined> {
  const row = await tx.one<{ organizationId: string }>(sql`
    update deposit_addresses
       set relay_id = nullif(relay_id, ${relayId}), sweep_at = clock_timestamp() + make_interval(secs => ${seconds}),
           unswept_since = coalesce(unswept_since, now())
     where environment = ${environment} and address = ${address}
    returning organization_id as "organizationId"`);
  return row?.organizationId;
}
