import { type AnswerOf, type Environment, type endpoints, environments } from '@svc/protocol';
import { Argument, type Command } from 'commander';
import { action, group, type LimitOptions, pageSize, take, withLimit } from '../context.ts';
import { usage } from '../failure.ts';
import { facts, table, time } from '../output.ts';

const FOOTER = `
They need OPERATOR_TOKEN in the environment. On the service's own machine npm run admin also has: settings of an
organisation, invitations of members and operators, and all of these without the service running.
`;

export function operatorCommand(): Command {
  const operator = group('operator', 'what the operator of the deployment does').addHelpText('after', FOOTER);
  operator.addCommand(health());
  operator.addCommand(organizations());
  operator.addCommand(keys());
  operator.addCommand(sponsorship());
  operator.addCommand(accounts());
  operator.addCommand(stuck());
  operator.addCommand(purchases());
  operator.addCommand(jobs());
  operator.addCommand(reconcile());
  operator
    .command('resume-redeem')
    .argument('<redeem id>')
    .description('send a redeem on to Solana that failed after its burn')
    .action(
      action(async (context, _, id) => {
        const redeem = await context.operator.resumeRedeem({ id });
        context.out.answer(redeem, () => facts(Object.entries(redeem)));
      }),
    );
  operator
    .command('resume-solana-transfer')
    .argument('<transfer id>')
    .description("follow a wallet's transfer to Solana again that is stuck")
    .action(
      action(async (context, _, id) => {
        const transfer = await context.operator.resumeSolanaTransfer({ id });
        context.out.answer(transfer, () => facts(Object.entries(transfer)));
      }),
    );
  return operator;
}

const health = () =>
  group('health', 'health of the process that answers, and what needs attention').action(
    action(async (context) => {
      const found = await context.operator.getHealth();
      context.out.answer(found, () =>
        facts([
          ['status', found.status],
          ['version', found.version],
          ['database', `${found.database.version}, ${Math.round(found.database.sizeBytes / 1e6)} MB`],
          ...found.checks.map(({ name, word }) => [name, word] as const),
          ...Object.entries(found.attention),
        ]),
      );
    }),
  );

function organizations(): Command {
  const command = group('organizations', 'list, show and make organisations');
  withLimit(command.command('list', { isDefault: true }))
    .description('list organisations, newest first')
    .option('-s, --search <text>', "part of the name, the id, or a member's e-mail address")
    .action(
      action<LimitOptions & { search?: string }>(async (context, { limit, all = false, search }) => {
        const found = context.operator.organizations({ search, pageSize: pageSize({ limit, all }) });
        const rows = await take(found, { limit, all });
        context.out.list(
          rows,
          [
            { title: 'CREATED', value: ({ createdAt }) => time(createdAt) },
            { title: 'ID', value: ({ id }) => id },
            { title: 'NAME', value: ({ name }) => name },
            { title: 'MEMBERS', value: ({ members }) => members, align: 'right' },
            {
              title: 'WALLETS',
              value: ({ production, development }) => production.wallets + development.wallets,
              align: 'right',
            },
            { title: 'USD', value: ({ production }) => production.availableUsd, align: 'right' },
          ],
          'There are no such organisations.',
        );
      }),
    );
  command
    .command('show')
    .argument('<id>')
    .description('show an organisation with its keys and members')
    .action(
      action(async (context, _, id) => {
        const found = await context.operator.getOrganization({ id });
        context.out.answer(found, () =>
          [
            facts([
              ['id', found.id],
              ['name', found.name],
              ['created', time(found.createdAt)],
            ]),
            table(found.keys, [
              { title: 'KEY', value: ({ id: key }) => key },
              { title: 'ENVIRONMENT', value: ({ environment }) => environment },
              { title: 'KIND', value: ({ kind }) => kind },
              { title: 'REVOKED', value: ({ revokedAt }) => time(revokedAt) },
            ]),
            table(found.people, [
              { title: 'MEMBER', value: ({ email }) => email },
              { title: 'ROLE', value: ({ role }) => role },
              { title: 'JOINED', value: ({ joinedAt }) => time(joinedAt) },
            ]),
          ].join('\n\n'),
        );
      }),
    );
  command
    .command('create')
    .argument('<name>')
    .option('--owner <email>', 'is invited as its first owner')
    .description('make an organisation')
    .action(
      action<{ owner?: string }>(async (context, { owner }, name) => {
        const made = await context.operator.createOrganization({ name, ownerEmail: owner || undefined });
        context.out.answer(made, () =>
          facts([
            ['id', made.id],
            ['name', made.name],
            ['invitation', made.invitationUrl],
          ]),
        );
      }),
    );
  return command;
}

const environment = () => new Argument('<environment>').choices(environments);

function keys(): Command {
  const command = group('keys', 'make and revoke keys of an organisation');
  command
    .command('create')
    .argument('<organisation id>')
    .addArgument(environment())
    .description('make a public and a secret key; the secret key is shown this once')
    .action(
      action(async (context, _, id, name) => {
        const made = await context.operator.createKeys({ id, environment: name as Environment });
        context.out.answer(made, () => facts(Object.entries(made)));
      }),
    );
  command
    .command('revoke')
    .argument('<organisation id>')
    .argument('<key id>')
    .option('-y, --yes', 'do not ask')
    .description('revoke a key, at once and everywhere')
    .action(
      action<{ yes?: boolean }>(async (context, { yes }, id, keyId) => {
        await context.out.confirm(`Revoke ${keyId}? Every program that uses it stops working.`, yes);
        await context.operator.revokeKey({ id, keyId });
        context.out.answer({ revoked: keyId }, () => `${keyId} is revoked.`);
      }),
    );
  return command;
}

const LISTS = new Set(['allowedContracts', 'allowedEntrypoints']);
const COUNTS = new Set(['userDailyTransactions', 'userDailyWallets']);
const AMOUNTS = new Set(['maxDailyStrk', 'dailyStrk', 'userDailyStrk']);

/** `name=value`; an empty value restores the default. */
export function parseLimit(text: string): [string, string | number | string[] | null] {
  const [, name = '', value = ''] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
  if (!LISTS.has(name) && !COUNTS.has(name) && !AMOUNTS.has(name)) {
    throw usage(`${name || text} is no limit. There are ${[...AMOUNTS, ...COUNTS, ...LISTS].join(', ')}.`);
  }
  if (value === '') return [name, null];
  if (LISTS.has(name)) return [name, value.split(',').map((one) => one.trim())];
  if (!COUNTS.has(name)) return [name, value];
  if (/^\d{1,10}$/.test(value)) return [name, Number(value)];
  throw usage(`${name} must be a whole number.`);
}

function sponsorship(): Command {
  const command = group('sponsorship', 'limits of sponsored gas of an organisation');
  command
    .command('show')
    .argument('<organisation id>')
    .addArgument(environment())
    .description('show the limits and what is used of them today')
    .action(
      action(async (context, _, id, name) => {
        const found = await context.operator.getSponsorship({ id, environment: name as Environment });
        context.out.answer(found, () => facts(Object.entries(found).map(([key, value]) => [key, plain(value)])));
      }),
    );
  command
    .command('set')
    .argument('<organisation id>')
    .addArgument(environment())
    .argument('<changes...>', 'name=value, or name= for the default; lists with commas')
    .description('change limits')
    .action(
      action(async (context, _, id, name, ...changes) => {
        const limits = Object.fromEntries(changes.flat().map(parseLimit));
        const found = await context.operator.updateSponsorship({ ...limits, id, environment: name as Environment });
        context.out.answer(found, () => facts(Object.entries(found).map(([key, value]) => [key, plain(value)])));
      }),
    );
  return command;
}

const plain = (value: unknown) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value);

const accounts = () =>
  group('accounts', "the service's own accounts, as the chain shows them now").action(
    action(async (context) => {
      const data = await context.operator.listAccounts();
      context.out.list(
        data,
        [
          { title: 'ROLE', value: ({ role }) => role },
          { title: 'ENVIRONMENT', value: ({ environment: name }) => name },
          { title: 'STRK', value: ({ strk }) => strk, align: 'right' },
          { title: 'USDC', value: ({ usdc }) => usdc, align: 'right' },
          { title: 'OPEN', value: ({ openRelays }) => openRelays, align: 'right' },
          { title: 'UNRECONCILED', value: ({ unreconciled }) => unreconciled, align: 'right' },
          { title: 'ADDRESS', value: ({ address }) => context.out.hash(address) },
        ],
        'The service has no accounts.',
      );
    }),
  );

const stuck = () =>
  group('stuck', 'redeems, transfers and purchases that do not go on by themselves').action(
    action(async (context) => {
      const found = await context.operator.listStuck();
      const rows = [
        ...found.redeems.map((row) => ({ what: 'redeem', id: row.id, of: row.organizationName, why: row.reason })),
        ...found.solanaTransfers.map((row) => ({
          ...{ what: 'solana transfer', id: row.id, of: row.organizationName, why: row.reason },
        })),
        ...found.purchases.map((row) => ({
          what: 'purchase',
          id: row.id,
          of: row.organizationName,
          why: row.reference,
        })),
      ];
      context.out.answer(found, () =>
        rows.length === 0
          ? 'Nothing is stuck.'
          : table(rows, [
              { title: 'WHAT', value: ({ what }) => what },
              { title: 'ID', value: ({ id }) => id },
              { title: 'ORGANISATION', value: ({ of }) => of },
              { title: 'REASON OR REFERENCE', value: ({ why }) => why },
            ]),
      );
    }),
  );

function purchases(): Command {
  const command = group('purchases', 'end a purchase by your word; ask the provider first');
  command
    .command('complete')
    .argument('<purchase id>')
    .argument('<file number>')
    .description('end it as delivered')
    .action(
      action(async (context, _, id, fileNumber) => {
        const ended = await context.operator.completePurchase({ id, fileNumber });
        context.out.answer(ended, () => facts(Object.entries(ended)));
      }),
    );
  command
    .command('fail')
    .argument('<purchase id>')
    .argument('<reason>')
    .description('end it as failed: its payment becomes due for refund')
    .action(
      action(async (context, _, id, reason) => {
        const ended = await context.operator.failPurchase({ id, reason });
        context.out.answer(ended, () => facts(Object.entries(ended)));
      }),
    );
  command
    .command('cancel')
    .argument('<purchase id>')
    .description('cancel one whose payment does not show up')
    .action(
      action(async (context, _, id) => {
        const ended = await context.operator.cancelPurchase({ id });
        context.out.answer(ended, () => facts(Object.entries(ended)));
      }),
    );
  return command;
}

function jobs(): Command {
  const command = group('jobs', 'jobs by task, and those that failed');
  command
    .command('list', { isDefault: true })
    .description('count jobs, and list those that used up their attempts')
    .action(
      action(async (context) => {
        const found = await context.operator.getJobs();
        context.out.answer(found, () =>
          [
            table(found.tasks, [
              { title: 'TASK', value: ({ task }) => task },
              { title: 'WAITING', value: ({ waiting }) => waiting, align: 'right' },
              { title: 'SCHEDULED', value: ({ scheduled }) => scheduled, align: 'right' },
              { title: 'RUNNING', value: ({ running }) => running, align: 'right' },
              { title: 'FAILED', value: ({ failed }) => failed, align: 'right' },
            ]),
            ...found.failed.map(({ id, task, lastError }) => `${id}  ${task}  ${lastError ?? ''}`),
          ].join('\n'),
        );
      }),
    );
  command
    .command('retry')
    .argument('<job id>')
    .description('run a failed job again, with all its attempts')
    .action(
      action(async (context, _, id) => {
        await context.operator.retryJob({ id });
        context.out.answer({ id }, () => `Job ${id} runs again.`);
      }),
    );
  return command;
}

function reconcile(): Command {
  const command = group('reconcile', 'transactions of the accounts that the database does not know');
  const show = (found: AnswerOf<typeof endpoints.listUnreconciled>) =>
    found.data.length === 0
      ? 'There are none.'
      : table(found.data, [
          { title: 'STATE', value: ({ state }) => state },
          { title: 'NONCE', value: ({ nonce }) => nonce, align: 'right' },
          { title: 'KIND', value: ({ kind }) => kind },
          { title: 'HASH', value: ({ hash }) => hash },
          { title: 'REASON', value: ({ reason }) => reason },
        ]);
  command
    .command('list', { isDefault: true })
    .description('list them')
    .action(
      action(async (context) => {
        const found = await context.operator.listUnreconciled();
        context.out.answer(found, () => show(found));
      }),
    );
  command
    .command('run')
    .description('look them up on the chain and import the payments that are recognised')
    .action(
      action(async (context) => {
        const found = await context.operator.reconcile();
        context.out.answer(found, () => show(found));
      }),
    );
  command
    .command('match')
    .argument('<hash>')
    .argument('<ids...>', 'redeems, gifts or purchases that it paid')
    .description('say what an open transaction paid')
    .action(
      action(async (context, _, hash, ...ids) => {
        const found = await context.operator.matchTransaction({ hash, ids: ids.flat() });
        context.out.answer(found, () => show({ open: 0, data: [found] }));
      }),
    );
  command
    .command('accept')
    .argument('<account>', 'address of the account')
    .argument('<nonce>')
    .argument('<reason>')
    .description('say that an open transaction is none of the payments of this service')
    .action(
      action(async (context, _, account, nonce, reason) => {
        const found = await context.operator.acceptTransaction({ account, nonce, reason });
        context.out.answer(found, () => show({ open: 0, data: [found] }));
      }),
    );
  return command;
}
