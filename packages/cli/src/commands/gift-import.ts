import { existsSync } from 'node:fs';
import path from 'node:path';
import { formatUsd, type GiftType, giftTypes, parseUsd } from '@svc/protocol';
import { toCsv } from '@svc/protocol/values';
import { type BulkGift, SvcGiftsBulkError } from '@svc/sdk';
import type { Command } from 'commander';
import { action, type Context, choice, group } from '../context.ts';
import { type Person, readPeople } from '../csv.ts';
import { CliError, explain, usage } from '../failure.ts';
import { digestOf, type ImportState, lockState, openState, saveState, writePrivate } from '../import-state.ts';
import { facts, table } from '../output.ts';

interface ImportOptions {
  readonly name?: string;
  readonly amount?: string;
  readonly type: GiftType;
  readonly standardBridge?: boolean;
  readonly out?: string;
  readonly state?: string;
  readonly allowDuplicates?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const SHOWN_PROBLEMS = 20;
const SHOWN_PEOPLE = 5;

const FOOTER = `
The file has a column email, and optionally code, amount and language (en or es). Each person gets a mail with a link,
in their language or, without one, in both.
An import that was interrupted goes on when the same command is run again: each person gets one gift.
`;

export function importCommand(): Command {
  return group('import', 'create a gift for each person of a CSV file, and mail the links')
    .argument('<file>', 'CSV with the columns email, code, amount, language')
    .option('--name <name>', 'name of the campaign, which recipients see; default: the name of the file')
    .option('--amount <usd>', 'for rows without an amount')
    .addOption(choice('--type <type>', 'type of the gifts', giftTypes).default('GIFT_CARD'))
    .option('--standard-bridge', 'redeems on Solana take hours and no fee, instead of seconds')
    .option('-o, --out <file>', 'where codes and links go; default: FILE.codes.csv')
    .option('--state <file>', 'what is done; default: FILE.import.json')
    .option('--allow-duplicates', 'an address may be there more than once')
    .option('--dry-run', 'check and show, create nothing')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', FOOTER)
    .action(action<ImportOptions>(importPeople));
}

async function importPeople(context: Context, options: ImportOptions, file: string): Promise<void> {
  const { out } = context;
  const { people, problems } = readPeople(file, options);
  if (problems.length > 0) throw new CliError('invalid_file', describeProblems(file, problems), 2);
  const base = file.replace(/\.csv$/i, '');
  const name = options.name ?? path.basename(base);
  const [resultFile, stateFile] = [options.out ?? `${base}.codes.csv`, options.state ?? `${file}.import.json`];
  const organization = await context.svc.getOrganization();
  const order = { name, type: options.type, cctpFast: options.standardBridge !== true };
  const digest = digestOf(people, { ...order, organization: organization.id, environment: organization.environment });
  const release = lockState(stateFile);
  try {
    const state = openState(stateFile, digest);
    const isNew = Object.keys(state.orders).length === 0;
    if (isNew && existsSync(resultFile)) throw usage(`${resultFile} exists already. Name another file with --out.`);
    const done = createdOf(state).length;
    if (!state.isDone) {
      preview(context, people, { name, environment: organization.environment, done });
      requireCredits(people, done, organization.balance.availableUsd);
      if (options.dryRun) {
        out.answer(
          { people: people.length, totalUsd: totalOf(people), created: done, dryRun: true },
          () => 'Nothing was created.',
        );
        return;
      }
      const open = people.length - done;
      await out.confirm(`Create ${open} gifts in ${organization.environment} and mail their links?`, options.yes);
    }
    const finished = state.isDone ? state : await run(context, people, order, { state, stateFile });
    const rows = results(people, finished);
    writePrivate(
      resultFile,
      toCsv(
        ['email', 'code', 'claimUrl', 'amount'],
        rows.map(({ email, code, claimUrl, amount }) => [email, code, claimUrl, amount]),
      ),
    );
    const summary = { created: rows.length, totalUsd: totalOf(people), name, results: resultFile, state: stateFile };
    out.answer({ ...summary, alreadyDone: state.isDone }, () =>
      [
        state.isDone
          ? `This file was imported already: ${rows.length} gifts. To create them again, delete ${stateFile}.`
          : `${rows.length} gifts were created.`,
        `Codes and links: ${resultFile}. Anyone who has a code can redeem it.`,
      ].join('\n'),
    );
  } finally {
    release();
  }
}

function describeProblems(file: string, problems: readonly string[]): string {
  const more = problems.length > SHOWN_PROBLEMS ? [`and ${problems.length - SHOWN_PROBLEMS} more`] : [];
  const shown = [...problems.slice(0, SHOWN_PROBLEMS), ...more].map((problem) => `  ${problem}`);
  return [
    `${file} has ${problems.length} problems; nothing was created. Correct them and run it again.`,
    ...shown,
  ].join('\n');
}

const totalOf = (people: readonly Person[]) => formatUsd(people.reduce((sum, { micros }) => sum + micros, 0n));

function preview(
  { out }: Context,
  people: readonly Person[],
  { name, environment, done }: { name: string; environment: string; done: number },
): void {
  const first = people.slice(0, SHOWN_PEOPLE);
  const more = people.length - first.length;
  out.note(
    [
      facts([
        ['campaign', name],
        ['environment', environment],
        ['people', people.length],
        ['total', `${totalOf(people)} USD, and an allowance for gas`],
        ...(done > 0 ? [['created before', done] as const] : []),
      ]),
      '',
      table(first, [
        { title: 'EMAIL', value: ({ email }) => email },
        { title: 'CODE', value: ({ code }) => code ?? 'a random one' },
        { title: 'USD', value: ({ micros }) => formatUsd(micros), align: 'right' },
        { title: 'LANGUAGE', value: ({ language }) => language ?? 'both' },
      ]),
      ...(more > 0 ? [`and ${more} more`] : []),
      '',
    ].join('\n'),
  );
}

function requireCredits(people: readonly Person[], done: number, availableUsd: number): void {
  const available = parseUsd(availableUsd);
  const total = people.reduce((sum, { micros }) => sum + micros, 0n);
  if (done > 0 || !available.ok || total <= available.value) return;
  throw new CliError(
    'insufficient_credits',
    `The gifts need ${formatUsd(total)} USD and more for gas, and ${availableUsd} USD are available. Send USDC to the deposit address of svc status.`,
  );
}

interface Run {
  readonly state: ImportState;
  readonly stateFile: string;
}

/** One order for each amount, in the order of the file. The state is saved before and after every batch. */
async function run(
  { svc, out }: Context,
  people: readonly Person[],
  order: { name: string; type: GiftType; cctpFast: boolean },
  { state: begun, stateFile }: Run,
): Promise<ImportState> {
  let state = begun;
  const bar = out.progress('Creating gifts', people.length);
  let shown = 0;
  const save = (next: ImportState) => {
    state = next;
    saveState(stateFile, state);
    const created = createdOf(state).length;
    bar.advance(created - shown, `${created} of ${people.length}`);
    shown = created;
  };
  for (const [micros, same] of byAmount(people)) {
    try {
      await svc.gifts.createGiftsBulk({
        ...order,
        amount: formatUsd(BigInt(micros)),
        recipients: same.map(({ email, code, language }) => ({ email, code, language })),
        resume: state.orders[micros],
        onProgress: (next) => save({ ...state, orders: { ...state.orders, [micros]: next } }),
      });
    } catch (error) {
      bar.end('Stopped');
      throw stopped(error, createdOf(state).length);
    }
  }
  save({ ...state, isDone: true });
  bar.end(`${people.length} gifts`);
  return state;
}

/** As `Map.groupBy`, which Node 20 does not have. */
function byAmount(people: readonly Person[]): Map<string, Person[]> {
  const groups = new Map<string, Person[]>();
  for (const person of people) {
    const group = groups.get(String(person.micros));
    if (group) group.push(person);
    else groups.set(String(person.micros), [person]);
  }
  return groups;
}

function stopped(error: unknown, created: number): unknown {
  if (error instanceof SvcGiftsBulkError && error.code === 'gifts_bulk_unclear') return error;
  const cause = error instanceof SvcGiftsBulkError ? (error.cause ?? error) : error;
  const { code, message, exitCode } = explain(cause);
  return new CliError(
    code,
    `${created} gifts were created, then it stopped: ${message} Run the same command again to go on.`,
    exitCode,
  );
}

const createdOf = ({ orders }: ImportState): readonly BulkGift[] =>
  Object.values(orders).flatMap(({ created }) => created);

/** In the order of the file. */
function results(people: readonly Person[], { orders }: ImportState) {
  const next = new Map<string, number>();
  return people.map(({ email, micros }) => {
    const key = String(micros);
    const place = next.get(key) ?? 0;
    next.set(key, place + 1);
    const gift = orders[key]?.created[place];
    return { email, code: gift?.code ?? '', claimUrl: gift?.claimUrl ?? '', amount: formatUsd(micros) };
  });
}
