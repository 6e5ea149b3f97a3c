import { connect } from 'node:net';
import { type DoctorReport, fixOfWord, levelOfWord, type OperatorAccount } from '@svc/protocol';
import { type Database, sql } from '@svc/store';
import { WrongTokenError } from '../chains/networks.ts';
import { WrongChainError } from '../chains/node-fetch.ts';
import { type Readiness, shareRead } from '../http/monitoring.ts';
import { type AccountsDeps, listAccounts } from '../relayer/operator.ts';

export type Finding = DoctorReport['checks'][number];

export interface DoctorDeps extends AccountsDeps {
  readonly readiness: () => Promise<Readiness>;
  readonly surroundings: Surroundings;
}

/** What of the configuration lies outside this process. */
export interface Surroundings {
  /** As it was set. */
  readonly publicUrl: string | undefined;
  readonly smtp: { readonly host: string; readonly port: number } | undefined;
  /** Rejects where the bridge does not answer; undefined: there is none. */
  readonly askBridge: (() => Promise<unknown>) | undefined;
  readonly fulfilmentUrl: string | undefined;
}

/** Runs all checks at once. Requests that come meanwhile share the run. */
export function createDoctor(deps: DoctorDeps): () => Promise<DoctorReport> {
  const { surroundings } = deps;
  const isLive = deps.networks.environments().includes('production');
  return shareRead(async () => {
    const parts = await Promise.all([
      attempt('readiness', async () => fromReadiness(await deps.readiness())),
      attempt('nodes', () => nodes(deps)),
      attempt('accounts', async () => (await listAccounts(deps)).map(accountFinding)),
      attempt('database role', async () => [await databaseRole(deps.db)]),
      attempt('migrations', async () => [await migrations(deps.db)]),
      attempt('clock', () => clocks(deps)),
      attempt('mail', async () => [await mail(surroundings, isLive)]),
      attempt('bridge', async () => [await bridge(surroundings, isLive)]),
      attempt('fulfilment', async () => [await fulfilment(surroundings, isLive)]),
      attempt('public address', async () => [await publicAddress(surroundings, isLive)]),
    ]);
    const checks = parts.flat();
    const worst = (['failing', 'warning'] as const).find((state) => checks.some((check) => check.state === state));
    return { status: worst ?? 'ok', checks };
  });
}

const ok = (name: string, found: string): Finding => ({ name, state: 'ok', found, fix: null });
const warning = (name: string, found: string, fix: string): Finding => ({ name, state: 'warning', found, fix });
const failing = (name: string, found: string, fix: string): Finding => ({ name, state: 'failing', found, fix });

/** Nodes answer within ten seconds or not at all. */
const CHECK_MS = 12_000;

async function attempt(name: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    const found = warning(name, `no answer within ${CHECK_MS / 1_000} s`, 'Ask again; the log has the reason.');
    timer = setTimeout(() => resolve([found]), CHECK_MS);
  });
  const looked = look().catch((error: unknown) => [
    warning(name, `could not be read: ${reasonOf(error)}`, 'Ask again; the log of the service has the reason.'),
  ]);
  return Promise.race([looked, late]).finally(() => clearTimeout(timer));
}

/** Messages of nodes and drivers are one line here, and short. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

function fromReadiness({ checks }: Readiness): Finding[] {
  return Object.entries(checks).map(([name, word]) => {
    const found = word === false ? 'no' : String(word);
    return { name, state: levelOfWord(word), found, fix: fixOfWord(name, word) ?? null };
  });
}

async function nodes({ networks }: DoctorDeps): Promise<Finding[]> {
  const settings = 'Check STARKNET_RPC_URLS and the variables of the other chains.';
  try {
    const { nodes: all, unasked } = await networks.check();
    return [
      ...all.map(({ host, trouble }) =>
        trouble === undefined
          ? ok('chain id', `${host} is on the configured chain`)
          : warning('chain id', `${host}: ${trouble}`, `Replace the node, or wait for it. ${settings}`),
      ),
      unasked.length === 0
        ? ok('tokens', 'decimals are as their contracts say')
        : warning('tokens', `not asked: ${unasked.join(', ')}`, `Their node did not answer. ${settings}`),
    ];
  } catch (error) {
    if (error instanceof WrongChainError) return [failing('chain id', reasonOf(error), settings)];
    if (error instanceof WrongTokenError) return [failing('tokens', reasonOf(error), 'Correct the token table.')];
    throw error;
  }
}

const accountFixes: Readonly<Record<OperatorAccount['state'], string | undefined>> = {
  OK: undefined,
  LOW: 'Send it STRK, and USDC if it is the manager, before it is empty.',
  EMPTY: 'Send it STRK, and USDC if it is the manager: until then it pays nothing.',
  NOT_DEPLOYED: 'Send it STRK and deploy it: until then it can send nothing.',
  UNREADABLE: 'No node answers for it: check STARKNET_RPC_URLS.',
  UNRECONCILED: 'Run svc operator reconcile run, then match or accept what is open.',
};

export function accountFinding(account: OperatorAccount): Finding {
  const { environment, role, address, state, strk, usdc, chainNonce, nextNonce, openRelays } = account;
  const name = `${role.toLowerCase()} account`;
  const money = strk === null ? 'unknown balance' : `${strk} STRK, ${usdc} USDC`;
  const found = `${address} (${environment}): ${state}, ${money}, nonce ${chainNonce ?? 'none'}`;
  const fix = accountFixes[state];
  if (fix !== undefined) return (state === 'LOW' || state === 'UNREADABLE' ? warning : failing)(name, found, fix);
  const isBehind = chainNonce !== null && nextNonce !== null && BigInt(nextNonce) < BigInt(chainNonce);
  if (isBehind && openRelays === 0) {
    const used = `${found}, but the service would use ${nextNonce} next`;
    return warning(name, used, 'Something else sends with this key: use the account for svc alone.');
  }
  return ok(name, found);
}

async function databaseRole({ lists }: Database): Promise<Finding> {
  const row = await lists.one<{ name: string; owns: boolean }>(sql`
    select current_user as name, bool_or(pg_has_role(relowner, 'MEMBER')) as owns
      from pg_class where oid = to_regclass('ledger_entries')`);
  if (row?.owns !== true) return ok('database role', `${row?.name} cannot change the schema`);
  const fix = 'Set DATABASE_OWNER_URL and give DATABASE_URL a role of its own (docs/operations.md).';
  return warning('database role', `${row.name} owns the tables`, fix);
}

async function migrations({ lists }: Database): Promise<Finding> {
  const row = await lists.one<{ count: number }>(sql`select count(*)::integer as count from schema_migrations`);
  return ok('migrations', `${row?.count ?? 0} done; a start with pending ones is refused`);
}

const MAX_OFF_MS = 2_000;
/** Both live networks have a block every few seconds. */
const OLD_BLOCK_MS = 600_000;

async function clocks({ db, networks }: DoctorDeps): Promise<Finding[]> {
  const before = Date.now();
  const row = await db.lists.one<{ at: number }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
  );
  const offMs = (row?.at ?? before) - (before + Date.now()) / 2;
  const database = clockFinding('database', offMs);
  if (!networks.environments().includes('production')) return [database];
  const { chain } = networks.starknet('production');
  const block = await chain.block(await chain.blockNumber());
  return [database, blockFinding(block && Date.now() - block.timestamp.getTime())];
}

export function clockFinding(other: string, offMs: number): Finding {
  const seconds = (Math.abs(offMs) / 1_000).toFixed(1);
  if (Math.abs(offMs) <= MAX_OFF_MS) return ok('clock', `${seconds} s from the ${other}'s`);
  const fix = 'Run a time service (NTP) on both machines: windows of signatures and sessions depend on it.';
  return warning('clock', `${seconds} s ${offMs > 0 ? 'behind' : 'ahead of'} the ${other}'s`, fix);
}

export function blockFinding(ageMs: number | undefined): Finding {
  if (ageMs === undefined) return warning('blocks', 'the latest block is unknown', 'Check STARKNET_RPC_URLS.');
  const seconds = Math.round(ageMs / 1_000);
  if (ageMs < -MAX_OFF_MS * 15) {
    return warning('blocks', `the latest is ${-seconds} s ahead of this clock`, 'Set the clock of this machine.');
  }
  if (ageMs <= OLD_BLOCK_MS) return ok('blocks', `the latest is ${Math.max(0, seconds)} s old`);
  return warning('blocks', `the latest is ${seconds} s old`, 'The node lags or the chain stands: use another node.');
}

async function mail({ smtp }: Surroundings, isLive: boolean): Promise<Finding> {
  if (!smtp && isLive) return warning('mail', 'no mail server', 'Set SMTP_URL and MAIL_FROM: nobody gets mail.');
  if (!smtp) return ok('mail', "the sandbox's mailbox");
  const { host, port } = smtp;
  const trouble = await connectTrouble(host, port);
  if (trouble === undefined) return ok('mail', `${host}:${port} answers`);
  return warning('mail', `${host}:${port}: ${trouble}`, 'Check SMTP_URL, and that the port is open from here.');
}

const CONNECT_MS = 5_000;

function connectTrouble(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    const end = (trouble: string | undefined) => {
      socket.destroy();
      resolve(trouble);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end(`no answer within ${CONNECT_MS / 1_000} s`));
    socket.once('error', (error) => end(reasonOf(error)));
  });
}

async function bridge({ askBridge }: Surroundings, isLive: boolean): Promise<Finding> {
  if (!askBridge) return ok('bridge', isLive ? 'off: gifts go to Starknet only' : "the sandbox's");
  try {
    await askBridge();
    return ok('bridge', 'tells its fees');
  } catch (error) {
    return warning('bridge', reasonOf(error), 'Check BRIDGE_URL, or set BRIDGE=off: redeems to Solana wait meanwhile.');
  }
}

async function fulfilment({ fulfilmentUrl }: Surroundings, isLive: boolean): Promise<Finding> {
  if (!fulfilmentUrl) return ok('fulfilment', isLive ? 'none: production has no purchases' : "the sandbox's");
  const answer = await ask(fulfilmentUrl, 'HEAD');
  const { host } = new URL(fulfilmentUrl);
  if (answer.ok) return ok('fulfilment', `${host} answers`);
  return warning('fulfilment', `${host}: ${answer.trouble}`, 'Start it, or correct FULFILMENT_URL: orders wait.');
}

async function publicAddress({ publicUrl }: Surroundings, isLive: boolean): Promise<Finding> {
  const name = 'public address';
  if (publicUrl === undefined) {
    if (!isLive) return ok(name, 'not set: this machine only');
    return warning(name, 'not set', 'Set PUBLIC_URL to the https:// address that people see.');
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== 'https:' && !/^(localhost|127\.|\[::1\])/.test(hostname)) {
    return failing(name, `${publicUrl} is not encrypted`, 'Put a TLS proxy in front and set PUBLIC_URL to https://….');
  }
  const answer = await ask(`${publicUrl}/healthz`, 'GET');
  const hint =
    'Check the proxy, its certificate and DNS; it may also be that this machine cannot reach its own address.';
  if (!answer.ok) return warning(name, `${publicUrl}: ${answer.trouble}`, hint);
  if (answer.status === 200) return ok(name, `${publicUrl} answers, ${protocol === 'https:' ? 'with TLS' : 'locally'}`);
  return warning(
    name,
    `${publicUrl}/healthz answers ${answer.status}`,
    'Let the proxy pass every path to the service.',
  );
}

type Asked = { readonly ok: true; readonly status: number } | { readonly ok: false; readonly trouble: string };

/** Any answer of an address that the operator set; its content does not matter. */
async function ask(url: string, method: 'GET' | 'HEAD'): Promise<Asked> {
  try {
    const response = await fetch(url, { method, redirect: 'manual', signal: AbortSignal.timeout(CONNECT_MS) });
    await response.body?.cancel();
    return { ok: true, status: response.status };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { ok: false, trouble: reasonOf(cause) };
  }
}
