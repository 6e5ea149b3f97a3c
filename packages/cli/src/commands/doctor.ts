import { type CheckLevel, fixOfWord, levelOfWord } from '@svc/protocol';
import type { Command } from 'commander';
import colors from 'picocolors';
import { action, type Context, fetchJson, group } from '../context.ts';
import { CliError, explain } from '../failure.ts';
import { clean } from '../output.ts';

export interface Finding {
  readonly check: string;
  readonly level: CheckLevel;
  readonly found: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
}

export function findingsOf(checks: Readonly<Record<string, string | boolean>>): Finding[] {
  return Object.entries(checks).map(([check, word]) => {
    const level = levelOfWord(word);
    return { check, level, found: level === 'ok' ? 'ok' : String(word), fix: fixOfWord(check, word) };
  });
}

export function doctorCommand(): Command {
  return group('doctor', 'check what a deployment needs, and say how to fix what is missing')
    .addHelpText(
      'after',
      '\nWith OPERATOR_TOKEN the service also checks its nodes, accounts, clock, mail and surroundings.\n',
    )
    .action(
      action(async (context) => {
        const findings = await examine(context);
        context.out.answer(findings, () => findings.map(line).join('\n'));
        const failing = findings.filter(({ level }) => level === 'failing').length;
        if (failing > 0) throw new CliError('not_healthy', `${failing} of ${findings.length} checks fail.`);
      }),
    );
}

const marks = { ok: colors.green('ok  '), warning: colors.yellow('warn'), failing: colors.red('fail') };

const line = ({ check, level, found, fix }: Finding): string =>
  `${marks[level]}  ${check.padEnd(16)}${clean(found)}${fix === undefined ? '' : `\n      ${colors.dim('→')} ${clean(fix)}`}`;

/** Each part is looked at even if one before it fails, but for those that need the service. */
async function examine(context: Context): Promise<Finding[]> {
  const { origin, credentials } = context;
  const before = [nodeVersion(process.versions.node), address(credentials.baseUrl)];
  const sentAt = Date.now();
  const ready = await attempt('service', async () => {
    const { status, answer } = await fetchJson(`${origin}/readyz`);
    const { checks } = answer as { checks?: Record<string, string | boolean> };
    if (checks === undefined) {
      return [
        { check: 'service', level: 'failing', found: `${origin} answered ${status}`, fix: 'Is it the address of svc?' },
      ];
    }
    const ms = Date.now() - sentAt;
    const service: Finding = { check: 'service', level: 'ok', found: `${credentials.baseUrl} in ${ms} ms` };
    return [service, ...(await deployment(context, findingsOf(checks)))];
  });
  if (ready.some(({ check, level }) => check === 'service' && level === 'failing')) return [...before, ...ready];
  const rest = await Promise.all([keys(context), chain(context), webhooks(context), operator(context)]);
  return [...before, ...ready, ...rest.flat()];
}

async function attempt(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    const { message } = explain(error);
    const [found = message, ...fix] = message.split(/(?<=\.) /);
    return [{ check, level: 'failing', found, fix: fix.join(' ') || 'The log of the service has the reason.' }];
  }
}

const OLDEST_NODE = [22, 18] as const;

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isRecent = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (isRecent) return { check: 'node version', level: 'ok', found: version };
  const fix = `A service on this machine needs ${OLDEST_NODE.join('.')}: npm start installs one, or install it yourself.`;
  return { check: 'node version', level: 'warning', found: version, fix };
}

export function address(baseUrl: string): Finding {
  const { protocol, hostname } = new URL(baseUrl);
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
  if (protocol === 'https:' || isLocal) return { check: 'address', level: 'ok', found: baseUrl };
  return { check: 'address', level: 'failing', found: `${baseUrl} is not encrypted`, fix: 'Put it behind https://.' };
}

function keys(context: Context): Promise<Finding[]> {
  return attempt('keys', async () => {
    const { name, environment, balance } = await context.svc.getOrganization();
    const credits: Finding =
      balance.availableUsd > 0
        ? { check: 'credits', level: 'ok', found: `${balance.availableUsd} USD available` }
        : { check: 'credits', level: 'warning', found: 'none', fix: 'Send USDC to the deposit address of svc status.' };
    const { isNearLimit, dailyStrk, used } = await context.svc.settings.getSponsorship();
    const gas: Finding = {
      check: 'sponsored gas',
      level: isNearLimit ? 'warning' : 'ok',
      found: `${used.strk} of ${dailyStrk ?? 'unlimited'} STRK today`,
      fix: isNearLimit ? 'Raise the limit with svc operator sponsorship set, or wait for the next day.' : undefined,
    };
    return [{ check: 'keys', level: 'ok', found: `${name}, ${environment}` }, credits, gas];
  });
}

/** The node that apps are told to use, seen from here. */
function chain(context: Context): Promise<Finding[]> {
  return attempt('chain', async () => {
    const { network, rpcUrl, chainId } = await context.svc.getConfig();
    const { answer } = await fetchJson(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'starknet_chainId', params: [] }),
    }).catch(() => ({ answer: {} }));
    const { result } = answer as { result?: string };
    if (result === chainId) return [{ check: 'chain', level: 'ok', found: `${network}, node of apps answers` }];
    const found = result === undefined ? 'the node of apps does not answer' : `the node of apps is on ${result}`;
    return [{ check: 'chain', level: 'failing', found, fix: 'Set STARKNET_PUBLIC_RPC_URL to a node of this network.' }];
  });
}

function webhooks(context: Context): Promise<Finding[]> {
  return attempt('your webhooks', async () => {
    const { items } = await context.svc.webhooks.listWebhooks({ limit: 100 });
    const off = items.filter(({ disabledReason }) => disabledReason === 'GONE' || disabledReason === 'FAILING');
    if (off.length === 0) return [{ check: 'your webhooks', level: 'ok', found: `${items.length}, none switched off` }];
    const fix = 'Repair the receiver, then switch them on in the dashboard or with PATCH, and replay what they missed.';
    return [
      { check: 'your webhooks', level: 'warning', found: `switched off: ${off.map(({ url }) => url).join(', ')}`, fix },
    ];
  });
}

/** The service's own list, which includes what `/readyz` says; without a token or an answer that alone. */
async function deployment(context: Context, readiness: Finding[]): Promise<Finding[]> {
  if (!process.env.OPERATOR_TOKEN) return readiness;
  try {
    const { checks } = await context.operator.getDoctorReport();
    return checks.map(({ name, state, found, fix }) => ({ check: name, level: state, found, fix: fix ?? undefined }));
  } catch (error) {
    return [...readiness, ...(await attempt('deployment', () => Promise.reject(error)))];
  }
}

const attention: Readonly<Record<string, string>> = {
  unreconciled: 'Run svc operator reconcile run.',
  lowAccounts: 'Send them STRK or USDC: svc operator accounts.',
  stuckRedeems: 'See svc operator stuck, then svc operator resume-redeem.',
  stuckSolanaTransfers: 'See svc operator stuck, then svc operator resume-solana-transfer.',
  stuckPurchases: 'See svc operator stuck; ask the provider, then end them.',
  failedJobs: 'See svc operator jobs, then svc operator jobs retry.',
};

async function operator(context: Context): Promise<Finding[]> {
  if (!process.env.OPERATOR_TOKEN) return [];
  return attempt('operator', async () => {
    const health = await context.operator.getHealth();
    const open = Object.entries(health.attention).filter(([name, count]) => attention[name] && count > 0);
    if (open.length === 0) return [{ check: 'operator', level: 'ok', found: 'nothing needs attention' }];
    return open.map(([name, count]) => ({
      check: 'operator',
      level: 'warning',
      found: `${name}: ${count}`,
      fix: attention[name],
    }));
  });
}
