import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type DoctorReport, fixOfWord, levelOfWord, type OperatorAccount } from '@svc/protocol';
import { type Database, sql } from '@svc/store';
import { WrongTokenError } from '../chains/networks.ts';
import { WrongChainError } from '../chains/node-fetch.ts';
import type { NodeHealth } from '../chains/nodes.ts';
import { findPoolFault } from '../chains/private-pool.ts';
import { PROBE_HEADER, type Readiness, shareRead } from '../http/monitoring.ts';
import { type AccountsDeps, type KeyState, listAccounts, listKeyStates } from '../relayer/operator.ts';

export type Finding = DoctorReport['checks'][number];

export interface DoctorDeps extends AccountsDeps {
  readonly readiness: () => Promise<Readiness>;
  readonly surroundings: Surroundings;
}

/** What of the configuration lies outside this process. What asks rejects where there is no good answer. */
export interface Surroundings {
  /** As it was set. */
  readonly publicUrl: string | undefined;
  readonly trustProxy: number;
  readonly probes: Map<string, number | undefined>;
  readonly mail: {
    readonly host: string | undefined;
    readonly verify: (() => Promise<string | undefined>) | undefined;
  };
  /** Undefined: there is no bridge. */
  readonly askBridge: (() => Promise<unknown>) | undefined;
  /** Undefined: the bridge's word is taken. */
  readonly checkSolana: (() => Promise<readonly NodeHealth[]>) | undefined;
  readonly fulfilment: {
    readonly url: string | undefined;
    readonly provider:
      | { lookUp(orderId: string, signal: AbortSignal): Promise<{ readonly state: string }> }
      | undefined;
  };
  readonly deliveries: () => Promise<{
    readonly enabled: number;
    readonly disabled: number;
    readonly oldestDueSeconds: number;
  }>;
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
      attempt('keys', async () => (await listKeyStates(deps)).map(keyFinding)),
      attempt('private balance', () => privateBalance(deps)),
      attempt('database role', async () => [await databaseRole(deps.db)]),
      attempt('migrations', async () => [await migrations(deps.db)]),
      attempt('clock', () => clocks(deps)),
      attempt('mail', async () => [await mail(surroundings, isLive)]),
      attempt('bridge', async () => [await bridge(surroundings, isLive)]),
      attempt('Solana', () => solana(surroundings)),
      attempt('fulfilment', async () => [await fulfilment(surroundings, isLive)]),
      attempt('webhooks', async () => [deliveryFinding(await surroundings.deliveries())]),
      attempt('public address', () => publicAddress(surroundings, isLive)),
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

/** Messages of nodes, drivers and the signer are one line here, and short. The cause says more than what users are told. */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  const text = cause instanceof Error ? cause.message : String(cause);
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

export function keyFinding({ environment, role, address, isValid }: KeyState): Finding {
  const name = `${role.toLowerCase()} key`;
  if (isValid) return ok(name, `signs for ${address} (${environment})`);
  const fix = `Give it the key of that account${environment === 'production' ? ` in ${SETTING_OF[role]}` : ''}: the chain refuses what this one signs.`;
  return failing(name, `does not sign for ${address} (${environment})`, fix);
}

const SETTING_OF = { RELAYER: 'RELAYER_ACCOUNTS', MANAGER: 'MANAGER_ACCOUNT' } as const;

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

async function privateBalance({ networks }: DoctorDeps): Promise<Finding[]> {
  if (!networks.environments().includes('production')) return [];
  const { chain, pool } = networks.starknet('production');
  if (!pool) return [ok('private balance', 'off')];
  const fault = await findPoolFault(chain, pool);
  if (fault !== undefined) {
    return [failing('private balance', fault, 'Correct pool in the network file, or set PRIVATE_BALANCE=off.')];
  }
  const isPaused = (await pool.terms())?.shieldPaused;
  return [
    ok('private balance', isPaused ? 'shields are paused; PRIVATE_BALANCE=open allows them' : 'shields are open'),
  ];
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

async function mail({ mail: { host, verify } }: Surroundings, isLive: boolean): Promise<Finding> {
  if (!verify && isLive)
    return warning('mail', 'no mail server', 'Set SMTP_URL and MAIL_FROM: until then no mail is sent.');
  if (!verify) return ok('mail', "the sandbox's mailbox");
  const trouble = await verify();
  if (trouble === undefined) return ok('mail', `${host} takes the login`);
  return warning('mail', `${host}: ${trouble}`, 'Check SMTP_URL, its password, and that the port is open from here.');
}

async function bridge({ askBridge }: Surroundings, isLive: boolean): Promise<Finding> {
  if (!askBridge) return ok('bridge', isLive ? 'off: gifts go to Starknet only' : "the sandbox's");
  try {
    await askBridge();
    return ok('bridge', 'tells its fees, and its contracts are on the chain');
  } catch (error) {
    return warning('bridge', reasonOf(error), 'Check BRIDGE_URL, or set BRIDGE=off: redeems to Solana wait meanwhile.');
  }
}

async function solana({ askBridge, checkSolana }: Surroundings): Promise<Finding[]> {
  const settings = 'Check SOLANA_RPC_URLS: redeems to Solana wait for a node that shows their mint.';
  if (!askBridge) return [];
  if (!checkSolana) {
    const fix = 'Set SOLANA_RPC_URLS, so that a redeem counts when Solana shows its mint.';
    return [warning('Solana', "no node: the bridge's word is taken for mints", fix)];
  }
  try {
    return (await checkSolana()).map(({ host, trouble }) =>
      trouble === undefined
        ? ok('Solana', `${host} is on the bridge's chain`)
        : warning('Solana', `${host}: ${trouble}`, settings),
    );
  } catch (error) {
    if (error instanceof WrongChainError) return [failing('Solana', reasonOf(error), settings)];
    throw error;
  }
}

/** Asks for an order that cannot exist: a service with the right secret does not know it. */
async function fulfilment({ fulfilment: { url, provider } }: Surroundings, isLive: boolean): Promise<Finding> {
  if (!provider) return ok('fulfilment', isLive ? 'none: production has no purchases' : "the sandbox's");
  const host = url === undefined ? 'the service' : new URL(url).host;
  try {
    await provider.lookUp(`txn_doctor-${randomUUID()}`, AbortSignal.timeout(CONNECT_MS));
    return ok('fulfilment', `${host} answers signed requests`);
  } catch (error) {
    const fix = 'Start it, correct FULFILMENT_URL, or give both sides the same FULFILMENT_SECRET: orders wait.';
    return warning('fulfilment', `${host}: ${reasonOf(error)}`, fix);
  }
}

const LATE_DELIVERY_SECONDS = 300;

export function deliveryFinding(backlog: Awaited<ReturnType<Surroundings['deliveries']>>): Finding {
  const { enabled, disabled, oldestDueSeconds } = backlog;
  const found = `${enabled} on, ${disabled} switched off because their receivers failed`;
  if (oldestDueSeconds < LATE_DELIVERY_SECONDS) return ok('webhooks', found);
  const fix = 'Start more processes with workers, or see which receiver hangs (docs/operations.md, Webhooks).';
  return warning('webhooks', `a delivery has been due for ${Math.round(oldestDueSeconds)} s; ${found}`, fix);
}

const isLocal = (hostname: string) => /^(localhost|127\.|\[::1\])/.test(hostname);

async function publicAddress(surroundings: Surroundings, isLive: boolean): Promise<Finding[]> {
  const name = 'public address';
  const { publicUrl } = surroundings;
  if (publicUrl === undefined) {
    if (!isLive) return [ok(name, 'not set: this machine only')];
    return [warning(name, 'not set', 'Set PUBLIC_URL to the https:// address that people see.')];
  }
  const url = new URL(publicUrl);
  if (url.protocol !== 'https:' && !isLocal(url.hostname)) {
    const fix = 'Put a TLS proxy in front and set PUBLIC_URL to https://….';
    return [failing(name, `${publicUrl} is not encrypted`, fix)];
  }
  const [reached, tls] = await Promise.all([
    reach(surroundings, publicUrl),
    url.protocol === 'https:' ? certificate(url) : undefined,
  ]);
  return [...reached, ...(tls ? [tls] : [])];
}

/** Sends itself a request through the public address, and reads what the proxies wrote into it. */
async function reach({ probes, trustProxy }: Surroundings, publicUrl: string): Promise<Finding[]> {
  const name = 'public address';
  const token = randomUUID();
  probes.set(token, undefined);
  try {
    const answer = await ask(`${publicUrl}/healthz`, { [PROBE_HEADER]: token });
    const hint =
      'Check DNS, the proxy and its certificate. It may also be that this machine cannot reach its own address.';
    if (!answer.ok) return [warning(name, `${publicUrl}: ${answer.trouble}`, hint)];
    if (answer.status !== 200) {
      const found = `${publicUrl}/healthz answers ${answer.status}`;
      return [warning(name, found, 'Let the proxy pass every path to the service.')];
    }
    return [ok(name, `${publicUrl} answers`), proxyFinding(probes.get(token), trustProxy, publicUrl)];
  } finally {
    probes.delete(token);
  }
}

/** `written`: addresses in X-Forwarded-For; undefined where another copy of the service got the request. */
export function proxyFinding(written: number | undefined, trusted: number, publicUrl: string): Finding {
  const name = 'proxy headers';
  if (written === undefined) return ok(name, 'not seen: another copy of the service answered');
  if (written < trusted) {
    const fix = `Set TRUST_PROXY to ${written}, or have each proxy append to X-Forwarded-For: clients can choose their address.`;
    return failing(name, `TRUST_PROXY is ${trusted}, but X-Forwarded-For has ${written} addresses`, fix);
  }
  if (written > trusted) {
    const fix = `Set TRUST_PROXY to ${written}: limits count all clients of a proxy as one.`;
    return warning(name, `TRUST_PROXY is ${trusted}, but X-Forwarded-For has ${written} addresses`, fix);
  }
  if (written === 0 && publicUrl.startsWith('https:')) {
    const fix = 'Have the proxy write X-Forwarded-For and set TRUST_PROXY: limits count all clients as one.';
    return warning(name, 'the proxy does not write X-Forwarded-For', fix);
  }
  return ok(name, written === 0 ? 'no proxy' : `X-Forwarded-For is written by ${written}`);
}

/** Let's Encrypt renews with 30 days left. */
const EXPIRES_SOON_DAYS = 14;
const DAY_MS = 86_400_000;

function certificate({ hostname, port }: URL): Promise<Finding> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const name = isIP(host) ? {} : { servername: host };
    const address = { host, port: Number(port || 443), timeout: CONNECT_MS };
    const socket = connectTls({ ...address, ...name, rejectUnauthorized: false });
    const end = (finding: Finding) => {
      socket.destroy();
      resolve(finding);
    };
    const fix = 'Check that the proxy listens with TLS at this address.';
    socket.once('secureConnect', () => {
      const trouble = socket.authorized ? undefined : reasonOf(socket.authorizationError);
      end(certificateFinding(trouble, new Date(socket.getPeerCertificate().valid_to), Date.now()));
    });
    socket.once('timeout', () => end(warning('TLS', `no answer within ${CONNECT_MS / 1_000} s`, fix)));
    socket.once('error', (error) => end(warning('TLS', reasonOf(error), fix)));
  });
}

export function certificateFinding(trouble: string | undefined, validTo: Date, nowMs: number): Finding {
  const day = Number.isNaN(validTo.getTime()) ? 'unknown' : validTo.toISOString().slice(0, 10);
  if (trouble !== undefined) {
    const fix = 'Have the proxy serve a valid certificate for this name, with its chain: clients refuse this one.';
    return failing('TLS', `${trouble}, valid until ${day}`, fix);
  }
  if (validTo.getTime() - nowMs < EXPIRES_SOON_DAYS * DAY_MS) {
    return warning('TLS', `the certificate ends on ${day}`, 'Renew it: the proxy should do so by itself.');
  }
  return ok('TLS', `the certificate is valid until ${day}`);
}

const CONNECT_MS = 5_000;

type Asked = { readonly ok: true; readonly status: number } | { readonly ok: false; readonly trouble: string };

async function ask(url: string, headers: Record<string, string>): Promise<Asked> {
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(CONNECT_MS) });
    await response.body?.cancel();
    return { ok: true, status: response.status };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { ok: false, trouble: reasonOf(cause) };
  }
}
