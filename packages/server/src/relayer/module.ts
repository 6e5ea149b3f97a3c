import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { padAddress, type StarknetChain } from '../chains/starknet/chain.ts';
import type { Crypto, SigningKey } from '../crypto/crypto.ts';
import type { Module } from '../http/module.ts';
import { type Checks, type GaugeSource, shareRead } from '../http/monitoring.ts';
import type { JobLog } from '../jobs/job.ts';
import { checkNonces, EMPTY_BALANCE, LOW_BALANCE, LOW_USDC, type RelayerKey } from './accounts.ts';
import type { DefaultLimits } from './budget.ts';
import type { OutcomeHandlers } from './outcome.ts';
import { createPayer, type Payer } from './payer.ts';
import { createPaymasterClient } from './paymaster/client.ts';
import { createPaymasterSponsor, paymasterJobs } from './paymaster/sponsor.ts';
import type { Sponsor } from './relay.ts';
import { createRelayerSponsor } from './relayer-sponsor.ts';
import { budgetGauges, budgetJobs, sponsorshipHandlers } from './sponsorship.ts';
import { unreconciledCheck, unreconciledGauge } from './unknown-nonces.ts';
import { relayerJobs } from './worker/worker.ts';

export interface RelayerModuleDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly crypto: Crypto;
  readonly log: JobLog;
  readonly maxFeeFri: bigint;
  readonly sponsorLimits: DefaultLimits;
  readonly relayers: Readonly<Record<Environment, readonly RelayerKey[]>>;
  readonly managers: Readonly<Record<Environment, RelayerKey | undefined>>;
  readonly draining: Readonly<Record<Environment, readonly RelayerKey[]>>;
  readonly depositKeys: Readonly<Record<Environment, SigningKey | undefined>>;
  readonly paymaster: { readonly url: string; readonly apiKey: string } | undefined;
  readonly outcomes: OutcomeHandlers;
  /** They learn the transaction hash of a relay that a paymaster sends, in the transaction that stores it. */
  readonly onHash: readonly ((tx: Db, relayId: string, hash: string) => Promise<void>)[];
}

export interface RelayerModule extends Module<'getSponsorship' | 'updateSponsorship'> {
  readonly sponsor: Sponsor;
  readonly payer: Payer;
  checkNonces(): Promise<void>;
}

export function create(deps: RelayerModuleDeps): RelayerModule {
  const { db, networks, crypto, log, maxFeeFri, sponsorLimits, outcomes } = deps;
  const managerKey = (environment: Environment) => deps.managers[environment];
  const keys = (environment: Environment) => deps.relayers[environment];
  const drainingKeys = (environment: Environment) => deps.draining[environment];
  const depositKey = (environment: Environment) => deps.depositKeys[environment];
  const rotation = { drainingKeys, depositKey };
  const own = { db, networks, crypto, outcomes, log, maxFeeFri, sponsorLimits, managerKey, keys, ...rotation };
  const environments = networks.environments();
  const accountOf = (environment: Environment, { address }: RelayerKey): ConfiguredAccount => ({
    chainId: networks.starknet(environment).chain.chainId,
    address: padAddress(address),
  });
  const paidBySponsor = environments.filter((each) => !(deps.paymaster && each === 'production'));
  const configured = {
    relayers: paidBySponsor.flatMap((each) => keys(each).map((key) => accountOf(each, key))),
    managers: environments.flatMap((each) => [managerKey(each)].flatMap((key) => (key ? accountOf(each, key) : []))),
  };
  const monitoring = {
    gauges: [...relayerGauges(db.lists), unreconciledGauge(db.lists), ...budgetGauges(own)],
    checks: {
      ...relayerChecks(db.lists, configured),
      ...deployedCheck(
        environments.map((each) => networks.starknet(each).chain),
        configured,
      ),
      ...unreconciledCheck(db.lists),
    },
  };
  const module = {
    handlers: sponsorshipHandlers(own),
    payer: createPayer(own),
    ...monitoring,
    checkNonces: async () => {
      await Promise.all(environments.map((environment) => checkNonces(own, environment)));
    },
  };
  const sponsor = createRelayerSponsor(own);
  const jobs = [relayerJobs({ ...own, environments }), budgetJobs(own)];
  if (!deps.paymaster) return { ...module, sponsor, jobs };

  const onHash = async (tx: Db, relayId: string, hash: bigint) => {
    for (const store of deps.onHash) await store(tx, relayId, toHex(hash));
  };
  const paymasterDeps = { ...own, paymaster: createPaymasterClient(deps.paymaster), onHash };
  const paymaster = createPaymasterSponsor(paymasterDeps);
  const sponsorOf = (environment: Environment) => (environment === 'production' ? paymaster : sponsor);
  return {
    ...module,
    sponsor: {
      prepare: (request) => sponsorOf(request.environment).prepare(request),
      sponsor: (sponsorship, store) => sponsorOf(sponsorship.environment).sponsor(sponsorship, store),
    },
    jobs: [...jobs, paymasterJobs(paymasterDeps)],
  };
}

const FRI_PER_STRK = 1e18;
const UNITS_PER_USDC = 1e6;

export function relayerGauges(reads: Reads): GaugeSource[] {
  const readStatus = shareRead(() => relayerStatus(reads));
  const gauge = (
    name: string,
    help: string,
    value: (status: RelayerAccountStatus) => number | undefined,
  ): GaugeSource => ({
    name,
    help,
    labelNames: ['account'],
    read: async () =>
      (await readStatus()).flatMap((status) => {
        const found = value(status);
        return found === undefined ? [] : [{ labels: { account: status.address }, value: found }];
      }),
  });
  return [
    gauge('svc_relayer_balance_strk', 'What a relayer account has left for gas', ({ balance }) =>
      balance === undefined ? undefined : Number(balance) / FRI_PER_STRK,
    ),
    gauge('svc_relayer_balance_low', '1 when a relayer account needs more STRK soon', ({ low }) => Number(low)),
    gauge('svc_manager_balance_usdc', 'What the account that pays out has left to pay with', ({ usdc }) =>
      usdc === undefined ? undefined : Number(usdc) / UNITS_PER_USDC,
    ),
    gauge('svc_relays_open', 'Transactions under way of a relayer account', ({ openRelays }) => openRelays),
    gauge(
      'svc_relays_oldest_open_seconds',
      'Age of the oldest transaction under way of a relayer account',
      ({ oldestOpenSeconds }) => oldestOpenSeconds,
    ),
  ];
}

export interface ConfiguredAccount {
  readonly chainId: bigint;
  readonly address: string;
}

/** Accounts that must have been read before a check can say `ok`. */
export interface ConfiguredAccounts {
  readonly relayers: readonly ConfiguredAccount[];
  readonly managers: readonly ConfiguredAccount[];
}

const NOTHING_CONFIGURED: ConfiguredAccounts = { relayers: [], managers: [] };
const isSame = (one: ConfiguredAccount, other: ConfiguredAccount): boolean =>
  one.chainId === other.chainId && one.address === other.address;

/** `empty`: on one of the chains nothing can be paid. `unknown`: no balance was read. All replicas share these accounts. */
export function relayerChecks(reads: Reads, configured: ConfiguredAccounts = NOTHING_CONFIGURED): Checks {
  const readStatus = shareRead(() => relayerStatus(reads));
  const isManager = (account: RelayerAccountStatus) =>
    account.usdc !== undefined || configured.managers.some((manager) => isSame(manager, account));
  return {
    relayers: async () => {
      const accounts = (await readStatus()).filter((account) => !isManager(account));
      const read = accounts.filter(({ balance }) => balance !== undefined);
      const chains = Map.groupBy(read, ({ chainId }) => chainId);
      if ([...chains.values()].some((own) => own.every(({ empty }) => empty))) return 'empty';
      if (configured.relayers.some(({ chainId }) => !chains.has(chainId))) return 'unknown';
      return accounts.some(({ low }) => low) ? 'low' : 'ok';
    },
    manager: async () => {
      const managers = (await readStatus()).filter(isManager);
      if (managers.some(({ empty, usdc }) => empty || usdc === 0n)) return 'empty';
      const read = managers.filter(({ balance, usdc }) => balance !== undefined && usdc !== undefined);
      if (configured.managers.some((manager) => !read.some((account) => isSame(manager, account)))) return 'unknown';
      return managers.some(({ low, usdc = 0n }) => low || usdc < LOW_USDC) ? 'low' : 'ok';
    },
  };
}

type AskedChain = Pick<StarknetChain, 'chainId' | 'classHashAt'>;

/** `undeployed`: a manager, or all relayers of a chain, are no contracts there. One that was found is not asked for again. */
export function deployedCheck(chains: readonly AskedChain[], { relayers, managers }: ConfiguredAccounts): Checks {
  const found = new Set<string>();
  const isDeployed = async ({ chainId, address }: ConfiguredAccount): Promise<boolean> => {
    const key = `${chainId} ${address}`;
    if (found.has(key)) return true;
    const chain = chains.find((each) => each.chainId === chainId);
    if ((await chain?.classHashAt(BigInt(address))) === undefined) return false;
    found.add(key);
    return true;
  };
  return {
    deployed: async () => {
      const paying = await Promise.all(managers.map(isDeployed));
      const sending = await Promise.all(
        [...Map.groupBy(relayers, ({ chainId }) => chainId).values()].map((own) => Promise.all(own.map(isDeployed))),
      );
      if (paying.includes(false) || sending.some((own) => !own.includes(true))) return 'undeployed';
      return sending.flat().includes(false) ? 'incomplete' : 'ok';
    },
  };
}

export interface RelayerAccountStatus {
  readonly chainId: bigint;
  readonly address: string;
  readonly balance: bigint | undefined;
  /** Of the manager, in the smallest unit; undefined for accounts that only pay for gas. */
  readonly usdc: bigint | undefined;
  readonly low: boolean;
  readonly empty: boolean;
  readonly openRelays: number;
  readonly oldestOpenSeconds: number;
}

interface Row {
  readonly chain_id: string;
  readonly address: string;
  readonly balance: string | null;
  readonly usdc: string | null;
  readonly open: bigint;
  readonly oldest: number | null;
}

export async function relayerStatus(reads: Reads): Promise<RelayerAccountStatus[]> {
  const rows = await reads.rows<Row>(sql`
    select own.chain_id, own.address, own.balance, own.usdc, under_way.open, under_way.oldest
      from relayer_accounts as own
     cross join lateral (
       select count(*) as open, extract(epoch from now() - min(created_at))::float8 as oldest from relays
        where chain_id = own.chain_id and account = own.address and state in ('STORED', 'SENT')) as under_way
     where own.balance_read_at > now() - interval '10 minutes' or under_way.open > 0
     order by own.chain_id, own.address`);
  return rows.map(({ chain_id, address, balance: text, usdc, open, oldest }) => {
    const balance = text === null ? undefined : BigInt(text);
    return {
      chainId: BigInt(chain_id),
      address,
      balance,
      usdc: usdc === null ? undefined : BigInt(usdc),
      low: balance !== undefined && balance < LOW_BALANCE,
      empty: balance !== undefined && balance < EMPTY_BALANCE,
      openRelays: Number(open),
      oldestOpenSeconds: Math.max(0, oldest ?? 0),
    };
  });
}
