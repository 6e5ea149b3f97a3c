import { setTimeout as pause } from 'node:timers/promises';
import {
  type ChainToken,
  chainTokens,
  type EventType,
  eventTypes,
  type LoggedRequest,
  type StatusClass,
  statusClasses,
  type TxStatus,
  type TxType,
  txStatuses,
  txTypes,
  type WalletType,
  walletTypes,
} from '@svc/protocol';
import type { Command } from 'commander';
import {
  action,
  type Context,
  choice,
  group,
  type LimitOptions,
  pageSize,
  take,
  whole,
  withLimit,
} from '../context.ts';
import { showAmount } from '../formats.ts';
import { facts, time } from '../output.ts';

interface TimeOptions {
  readonly after?: string;
  readonly before?: string;
}

const withTimes = (command: Command) =>
  command
    .option('--after <time>', 'created at this time or later (ISO 8601)')
    .option('--before <time>', 'created before this time');

export function walletsCommand(): Command {
  const wallets = group('wallets', 'list wallets, or show one');
  interface WalletOptions extends LimitOptions, TimeOptions {
    readonly search?: string;
    readonly type?: WalletType;
    readonly deployed?: boolean;
  }
  withTimes(withLimit(wallets.command('list', { isDefault: true })))
    .description('list the wallets of your environment, newest first')
    .option('-s, --search <text>', "the beginning of your user's id, or an address or id of a wallet")
    .addOption(choice('--type <type>', 'wallet type', walletTypes))
    .option('--deployed', 'only those that are on the chain')
    .option('--no-deployed', 'only those that are not on the chain yet')
    .action(
      action<WalletOptions>(async ({ svc, out }, options) => {
        const found = svc.wallets({
          search: options.search,
          walletType: options.type,
          isDeployed: options.deployed,
          createdAfter: options.after,
          createdBefore: options.before,
          pageSize: pageSize(options),
        });
        const columns = [
          { title: 'CREATED', value: (row: { createdAt: string }) => time(row.createdAt) },
          { title: 'ID', value: (row: { id: string }) => row.id },
          { title: 'USER', value: (row: { externalUserId: string }) => row.externalUserId },
          { title: 'TYPE', value: (row: { walletType: string }) => row.walletType },
          { title: 'DEPLOYED', value: (row: { isDeployed: boolean }) => row.isDeployed },
          { title: 'ADDRESS', value: (row: { publicKey: string }) => out.hash(row.publicKey) },
        ];
        out.list(await take(found, options), columns, 'There are no such wallets.');
      }),
    );
  wallets
    .command('show')
    .argument('<id>', 'of a listed wallet')
    .description('show a wallet with its balances, class and sessions on the chain')
    .action(
      action(async ({ svc, out }, _, id) => {
        const [wallet, chain] = await Promise.all([svc.getWalletById({ id }), svc.getWalletChainState({ id })]);
        out.answer({ ...wallet, chain }, () => facts(flatten({ ...wallet, ...chain })));
      }),
    );
  return wallets;
}

export function transactionsCommand(): Command {
  const transactions = group('transactions', 'list transactions, or show one');
  interface TransactionOptions extends LimitOptions, TimeOptions {
    readonly type?: TxType;
    readonly status?: TxStatus;
    readonly token?: ChainToken;
    readonly wallet?: string;
    readonly user?: string;
    readonly sku?: string;
  }
  withTimes(withLimit(transactions.command('list', { isDefault: true })))
    .description('list the transactions of your environment, newest first')
    .addOption(choice('--type <type>', 'type', txTypes))
    .addOption(choice('--status <status>', 'status', txStatuses))
    .addOption(choice('--token <token>', 'token', chainTokens))
    .option('--wallet <address>', 'sent or received by this address')
    .option('--user <id>', 'sent or received by a wallet of this user')
    .option('--sku <id>', 'purchases of this service')
    .action(
      action<TransactionOptions>(async ({ svc, out }, options) => {
        const found = svc.environmentTransactions({
          type: options.type,
          status: options.status,
          token: options.token,
          walletAddress: options.wallet,
          externalUserId: options.user,
          skuId: options.sku,
          createdAfter: options.after,
          createdBefore: options.before,
          pageSize: pageSize(options),
        });
        const rows = await take(found, options);
        const { tokens } = rows.length > 0 && !out.json ? await svc.getConfig() : { tokens: [] };
        const columns = [
          { title: 'CREATED', value: (row: (typeof rows)[number]) => time(row.createdAt) },
          { title: 'ID', value: (row: (typeof rows)[number]) => row.id },
          { title: 'TYPE', value: (row: (typeof rows)[number]) => row.type },
          { title: 'STATUS', value: (row: (typeof rows)[number]) => row.status },
          { title: 'AMOUNT', value: (row: (typeof rows)[number]) => showAmount(row, tokens), align: 'right' as const },
          { title: 'TO', value: (row: (typeof rows)[number]) => row.skuId ?? out.hash(row.destinationAddress) },
          { title: 'HASH', value: (row: (typeof rows)[number]) => out.hash(row.transactionHash) },
        ];
        out.list(rows, columns, 'There are no such transactions.');
      }),
    );
  transactions
    .command('show')
    .argument('<hash or id>')
    .description('show a transaction with its calls, events, fee and attempts')
    .action(
      action(async ({ svc, out }, _, hashOrId) => {
        const details = await svc.getTransactionDetails({ hashOrId });
        out.answer(details, () => facts(flatten(details)));
      }),
    );
  return transactions;
}

export function eventsCommand(): Command {
  return withLimit(group('events', 'list what happened, newest first'))
    .addOption(choice('--type <type>', 'type of event', eventTypes))
    .action(
      action<LimitOptions & { type?: EventType }>(async ({ svc, out }, options) => {
        const found = svc.webhooks.events({ type: options.type, pageSize: pageSize(options) });
        const rows = await take(found, options);
        const columns = [
          { title: 'TIME', value: (row: (typeof rows)[number]) => time(row.timestamp) },
          { title: 'ID', value: (row: (typeof rows)[number]) => row.id },
          { title: 'TYPE', value: (row: (typeof rows)[number]) => row.type },
          {
            title: 'ABOUT',
            value: (row: (typeof rows)[number]) => String(row.data.id ?? row.data.transactionHash ?? ''),
          },
        ];
        out.list(rows, columns, 'There are no such events.');
      }),
    );
}

interface LogOptions {
  readonly status?: StatusClass;
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path?: string;
  readonly error?: string;
  readonly request?: string;
}

const withLogFilters = (command: Command) =>
  command
    .addOption(choice('--status <class>', 'class of the status', statusClasses))
    .addOption(choice('--method <method>', 'method', ['GET', 'POST', 'PATCH', 'DELETE']))
    .option('--path <pattern>', 'such as /gifts/{id}')
    .option('--error <code>', 'code of the error')
    .option('--request <id>', 'x-request-id of the answer');

const logFilters = ({ status, method, path, error, request }: LogOptions) => ({
  status,
  method,
  path,
  errorCode: error,
  requestId: request,
});

export function logsCommand(): Command {
  const logs = group('logs', 'your requests of the last 7 days');
  withLogFilters(withLimit(logs.command('list', { isDefault: true })))
    .description('list requests, newest first')
    .action(
      action<LimitOptions & LogOptions>(async ({ svc, out }, options) => {
        const found = svc.requests({ ...logFilters(options), pageSize: pageSize(options) });
        const rows = await take(found, options);
        out.answer(rows, () => rows.map(logLine).join('\n') || 'There are no such requests.');
      }),
    );
  withLogFilters(logs.command('tail'))
    .description('show requests as they come, until it is interrupted')
    .option('--every <seconds>', 'how often to look', whole(1, 3_600), 2)
    .option('--for <seconds>', 'end after so many seconds', whole(1, 86_400))
    .action(
      action<LogOptions & { every: number; for?: number }>(async (context, options) => {
        await tail(context, options);
      }),
    );
  return logs;
}

const TAIL_PAGE = 100;

/** What this program and `svc listen` ask for again and again. */
const LOOKS = new Set(['/organization/requests', '/organization/events']);

async function tail({ svc, out }: Context, options: LogOptions & { every: number; for?: number }): Promise<void> {
  const filters = logFilters(options);
  const endsAt = options.for === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.for * 1_000;
  const seen = new Set((await svc.listRequests({ ...filters, limit: TAIL_PAGE })).items.map(({ id }) => id));
  out.note('Waiting for requests. Ctrl-C ends it.');
  while (Date.now() < endsAt) {
    await pause(Math.min(options.every * 1_000, Math.max(0, endsAt - Date.now())));
    const { items } = await svc.listRequests({ ...filters, limit: TAIL_PAGE });
    for (const request of items.filter(({ id }) => !seen.has(id)).reverse()) {
      if (options.path !== undefined || !LOOKS.has(request.path)) out.item(request, () => logLine(request));
    }
    seen.clear();
    for (const { id } of items) seen.add(id);
  }
}

const logLine = ({ at, method, path, status, durationMs, errorCode, requestId }: LoggedRequest): string =>
  [time(at), method.padEnd(6), path, status, `${durationMs.toFixed(0)} ms`, errorCode, requestId]
    .filter((part) => part !== null && part !== '')
    .join('  ');

/** Lists and objects inside an answer as short JSON. */
const flatten = (value: object): [string, unknown][] =>
  Object.entries(value).map(([name, one]) => [
    name,
    one !== null && typeof one === 'object' ? JSON.stringify(one) : one,
  ]);
