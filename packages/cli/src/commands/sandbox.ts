import { chains, chainTokens } from '@svc/protocol';
import { Argument, type Command } from 'commander';
import { action, choice, group, whole } from '../context.ts';
import { usage } from '../failure.ts';
import { formatDuration, parseDuration } from '../formats.ts';
import { facts, table } from '../output.ts';

export function faucetCommand(): Command {
  return group('faucet', 'give tokens of development to an address; without one, credits to your organisation')
    .argument('[address]', 'who gets them; default: the deposit address of your organisation')
    .option('--amount <amount>', 'in whole tokens', '100')
    .addOption(choice('--token <token>', 'token', chainTokens).default('USDC'))
    .addOption(choice('--chain <chain>', 'chain', chains).default('STARKNET'))
    .action(
      action<{ amount: string; token: string; chain: string }>(async (context, { amount, token, chain }, given) => {
        const address = given ?? (await depositAddress(context.svc));
        const answer = await context.sandbox<{ transactionHash: string }>('POST', '/faucet', {
          address,
          amount,
          token,
          chain,
        });
        context.out.answer({ address, amount, token, chain, ...answer }, () =>
          facts([
            ['sent', `${amount} ${token}`],
            ['to', address],
            ['transaction', answer.transactionHash],
          ]),
        );
      }),
    );
}

async function depositAddress(svc: { getOrganization(): Promise<{ depositAddress: string | null }> }): Promise<string> {
  const { depositAddress: address } = await svc.getOrganization();
  if (address === null) throw usage('Your organisation has no deposit address. Name an address.');
  return address;
}

interface Chain {
  readonly blockNumber: number;
  readonly timestamp: number;
  readonly offsetSeconds: number;
  readonly blockSeconds: number;
  readonly waitingTransactions: number;
}

const showChain = ({ blockNumber, timestamp, offsetSeconds, blockSeconds, waitingTransactions }: Chain): string =>
  facts([
    ['time of the chain', new Date(timestamp * 1_000).toISOString()],
    ['ahead of now by', formatDuration(offsetSeconds)],
    ['block', blockNumber],
    ['blocks', blockSeconds === 0 ? 'with each transaction' : `every ${formatDuration(blockSeconds)}`],
    ['waiting transactions', waitingTransactions],
  ]);

/** Without the accounts and their keys. */
const withoutAccounts = ({ accounts: _, ...chain }: Chain & { accounts?: unknown }): Chain => chain;

export function timeCommand(): Command {
  const time = group('time', "the clock of development's chain");
  time
    .command('show', { isDefault: true })
    .description('show the time of the chain')
    .action(
      action(async (context) => {
        const chain = withoutAccounts(await context.sandbox<Chain>('GET', '/starknet'));
        context.out.answer(chain, () => showChain(chain));
      }),
    );
  time
    .command('travel')
    .argument('<duration>', 'such as 90s, 15m, 6h, 2d, 1w or 1d12h')
    .description('move the chain ahead in time')
    .action(
      action(async (context, _, duration) => {
        const increaseSeconds = parseDuration(duration);
        const chain = await context.sandbox<Chain>('POST', '/starknet/time', { increaseSeconds });
        context.out.answer(chain, () => showChain(chain));
      }),
    );
  time
    .command('reset')
    .description('bring the chain back to the real time')
    .action(
      action(async (context) => {
        const chain = await context.sandbox<Chain>('POST', '/starknet/time', { offsetSeconds: 0 });
        context.out.answer(chain, () => showChain(chain));
      }),
    );
  return time;
}

/** Kinds by the part that they disturb; docs/sandbox.md says what each does. */
export const faultKinds = {
  starknet: ['revert', 'reject', 'forget', 'lose-answer', 'slow', 'error', 'unavailable', 'stale'],
  bridge: [
    'never-indexed',
    'delayed',
    'expired',
    'tampered-message',
    'forward-failed',
    'unavailable',
    'rate-limited',
    'no-answer',
  ],
  provider: [
    'unavailable',
    'close',
    'hang',
    'deliver-unavailable',
    'deliver-close',
    'deliver-hang',
    'slow',
    'no-callback',
    'callback-twice',
    'callback-contradicting',
  ],
} as const;
type Part = keyof typeof faultKinds;
const parts = Object.keys(faultKinds) as Part[];

interface FaultOptions {
  readonly of: Part;
  readonly [name: string]: unknown;
}

const fields = [
  'method',
  'reason',
  'count',
  'seconds',
  'delayMs',
  'code',
  'message',
  'blocks',
  'delaySeconds',
  'field',
  'request',
  'transactionHash',
  'reference',
] as const;

export function sandboxCommand(): Command {
  const sandbox = group('sandbox', 'faults, blocks and reorganisations of development');
  sandbox
    .command('fault')
    .addArgument(new Argument('<kind>').choices([...new Set(Object.values(faultKinds).flat())]))
    .addOption(choice('--of <part>', 'what it disturbs', parts).default('starknet'))
    .option('--method <name>', 'only calls of this JSON-RPC method')
    .option('--count <times>', 'how often', whole(1, 10_000))
    .option('--seconds <seconds>', 'for how long', whole(1, 86_400))
    .option('--reason <text>', 'of revert and reject')
    .option('--delay-ms <ms>', 'of slow', whole(1, 60_000))
    .option('--code <code>', 'of error', whole(-(2 ** 31), 2 ** 31 - 1))
    .option('--message <text>', 'of error')
    .option('--blocks <count>', 'of stale', whole(1, 100))
    .option('--delay-seconds <seconds>', 'of delayed', whole(1, 30 * 86_400))
    .option('--field <name>', 'of tampered-message')
    .option('--request <name>', 'which request of the bridge or provider')
    .option('--transaction-hash <hash>', 'only burns of this transaction')
    .option('--reference <text>', 'only orders with this reference')
    .description('make the chain, the bridge or the provider fail next time')
    .action(
      action<FaultOptions>(async (context, options, kind) => {
        const known: readonly string[] = faultKinds[options.of];
        if (!known.includes(kind)) throw usage(`${kind} is no fault of ${options.of}. There are ${known.join(', ')}.`);
        const given = fields.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]));
        const fault = await context.sandbox<object>('POST', `/${options.of}/faults`, {
          kind,
          ...Object.fromEntries(given),
        });
        context.out.answer(fault, () => facts(Object.entries(fault)));
      }),
    );
  sandbox
    .command('faults')
    .option('--clear', 'remove all of them')
    .description('list the faults that are active')
    .action(
      action<{ clear?: boolean }>(async (context, { clear }) => {
        const method = clear ? 'DELETE' : 'GET';
        const answers = await Promise.all(
          parts.map(async (of) => {
            const { faults = [] } = await context.sandbox<{ faults?: { kind: string }[] }>(method, `/${of}/faults`);
            return faults.map((fault) => ({ of, ...fault }));
          }),
        );
        const faults = answers.flat();
        context.out.answer(faults, () =>
          faults.length === 0
            ? 'No fault is active.'
            : table(faults, [
                { title: 'OF', value: ({ of }) => of },
                { title: 'KIND', value: ({ kind }) => kind },
                { title: 'DETAILS', value: ({ of: _, kind: __, ...rest }) => JSON.stringify(rest) },
              ]),
        );
      }),
    );
  sandbox
    .command('mine')
    .argument('[blocks]', 'how many', '1')
    .description('end the open block, or add empty ones')
    .action(
      action(async (context, _, blocks) => {
        const chain = await context.sandbox<Chain>('POST', '/starknet/mine', { blocks: whole(1, 1_000)(blocks) });
        context.out.answer(chain, () => showChain(chain));
      }),
    );
  sandbox
    .command('reorg')
    .argument('<blocks>', 'how many of the last blocks are removed')
    .option('--requeue', 'execute their transactions again; otherwise they are dropped')
    .description('reorganise the chain')
    .action(
      action<{ requeue?: boolean }>(async (context, { requeue }, blocks) => {
        const body = { blocks: whole(1, 100)(blocks), transactions: requeue ? 'requeue' : 'drop' };
        const chain = await context.sandbox<Chain>('POST', '/starknet/reorg', body);
        context.out.answer(chain, () => showChain(chain));
      }),
    );
  return sandbox;
}
