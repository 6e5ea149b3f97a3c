import { writeFileSync } from 'node:fs';
import { type Environment, environments, type Role, roles } from '@svc/protocol';
import { connect, type Db } from '@svc/store';
import { operatorOf } from './audit-log.ts';
import { Networks } from './chains/networks.ts';
import { type Config, readConfig } from './config.ts';
import { openStoreBesideService, prepare, serverMigrations } from './database.ts';
import { VariableReader } from './env-reader.ts';
import * as gifts from './gifts/module.ts';
import { resumeRedeem } from './gifts/operator.ts';
import { mergeUnique } from './http/module.ts';
import { keystoreNames, sealKeystore } from './keystore.ts';
import { inviteMember, inviteOperator, type LinkMails, listMembers } from './members/members.ts';
import { reconciling, sponsorLimitsOf } from './modules.ts';
import { credentialsFileOf, readCredentials } from './organizations/development.ts';
import { addOrganization, createKeys, revokeKey, setSettings, showSettings } from './organizations/operator.ts';
import * as store from './organizations/organization-store.ts';
import * as purchases from './purchases/module.ts';
import { cancelByOperator, endByOperator, type OperatorResult, stuckPurchases } from './purchases/operator.ts';
import type { OutcomeHandlers } from './relayer/outcome.ts';
import { acceptByOperator, matchByOperator, type ReconcileDeps, reconcile } from './relayer/reconcile-accounts.ts';
import { readSponsorship, setSponsorship } from './relayer/sponsorship.ts';

const USAGE = `The operator's commands, on the same database as the service (running or not):

  npm run admin -- organizations list
  npm run admin -- organizations create "<name>"
  npm run admin -- keys list <organization id>
  npm run admin -- keys create <organization id> <production|development>
  npm run admin -- keys revoke <key id>
  npm run admin -- settings show <organization id> <production|development>
  npm run admin -- settings set <organization id> <production|development> <name>=<value> ...
  npm run admin -- sponsorship show <organization id> <production|development>
  npm run admin -- sponsorship set <organization id> <production|development> <name>=<value> ...
  npm run admin -- members list <organization id>
  npm run admin -- members invite <organization id> <email> <OWNER|DEVELOPER|VIEWER>
  npm run admin -- operators invite <email>
  npm run admin -- keystore create <file>
  npm run admin -- resume-redeem <redeem id>
  npm run admin -- purchases stuck
  npm run admin -- purchases complete <purchase id> "<file number>"
  npm run admin -- purchases fail <purchase id> "<reason>"
  npm run admin -- purchases cancel <purchase id>
  npm run admin -- reconcile
  npm run admin -- reconcile match <transaction hash> <redeem, gift or purchase id> ...
  npm run admin -- reconcile accept <transaction hash or nonce> "<reason>"

keystore create encrypts the keys of RELAYER_ACCOUNTS, MANAGER_ACCOUNT, DRAINING_ACCOUNTS and DEPOSIT_KEY with
ACCOUNTS_PASSPHRASE (or the _FILE of each) into a new file. The service opens it with ACCOUNTS_KEYSTORE and ACCOUNTS_PASSPHRASE.

An invitation goes by mail where SMTP_URL is set; otherwise its link is printed, to hand over. It works once, for 7 days.

A redeem to Solana that failed after its USDC was burned is sent on by resume-redeem.
A purchase whose provider cannot be reached is ended by your word. Ask the provider first: what it has delivered must not
fail, because the payment of a failed purchase is given back.

After a restore, reconcile looks up the transactions of the accounts that the database does not know, imports the payments that
it recognises and lists the others. Match them, or accept those that are no payments of this service: then payments go on.

Settings: jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim, giftsNeedSecretKey, publicKeyGiftsDailyUsd,
notificationEmail, recipientWallets, recipientAppUrl. An empty value clears one.
Sponsorship: maxDailyStrk (yours alone: the organisation's dailyStrk is at most this), dailyStrk, userDailyStrk, userDailyTransactions,
userDailyWallets, allowedContracts, allowedEntrypoints (separated by commas). An empty value restores the default.
`;

const LIST_LIMIT = 1_000;

class UsageError extends Error {}

type Command = (db: Db, args: string[], config: Config) => Promise<unknown>;

const commands: Record<string, Command> = {
  'organizations list': (db) => store.listOrganizations(db, LIST_LIMIT),
  'organizations create': async (db, [name]) => ({
    id: await db.tx((tx) => addOrganization(tx, required(name, 'a name'))),
  }),
  'keys list': (db, [organizationId]) => store.listKeys(db, required(organizationId, 'an organisation id'), LIST_LIMIT),
  'keys create': async (db, [organizationId, environment]) => ({
    ...(await db.tx((tx) => createKeys(tx, readOwner(organizationId, environment)))),
    note: 'The secret key is shown this once.',
  }),
  'keys revoke': async (db, [keyId]) => {
    if (await db.tx((tx) => revokeKey(tx, required(keyId, 'a key id')))) return { revoked: keyId };
    throw new UsageError('No key in use has this id.');
  },
  'settings show': (db, [organizationId, environment]) => showSettings(db, readOwner(organizationId, environment)),
  'settings set': (db, [organizationId, environment, ...changes], { loopbackEnvironments }) => {
    const owner = readOwner(organizationId, environment);
    required(changes[0], 'a setting and its value');
    return setSettings(db, owner, changes, { allowLoopback: loopbackEnvironments.includes(owner.environment) });
  },
  'sponsorship show': (db, [organizationId, environment], config) =>
    readSponsorship(db, { sponsorLimits: sponsorLimitsOf(config) }, readOwner(organizationId, environment)),
  'sponsorship set': (db, [organizationId, environment, ...changes], config) => {
    const owner = readOwner(organizationId, environment);
    required(changes[0], 'a limit and its value');
    return setSponsorship(db, sponsorLimitsOf(config), owner, changes);
  },
  'members list': (db, [organizationId]) => listMembers(db, required(organizationId, 'an organisation id')),
  'members invite': async (db, [organizationId, email, role], config) => {
    const id = required(organizationId, 'an organisation id');
    const invitation = { email: readEmail(email), role: readRole(role) };
    return db.tx((tx) => inviteMember(tx, linkMails(config), operatorOf(id, 'production'), invitation));
  },
  'operators invite': (db, [email], config) => db.tx((tx) => inviteOperator(tx, linkMails(config), readEmail(email))),
  'purchases stuck': (db) => stuckPurchases(db, LIST_LIMIT),
  'purchases complete': (db, [id, fileNumber]) =>
    endPurchase(db, id, (tx, known) =>
      endByOperator(tx, known, { state: 'completed', fileNumber: required(fileNumber, 'a file number') }),
    ),
  'purchases fail': (db, [id, reason]) =>
    endPurchase(db, id, (tx, known) =>
      endByOperator(tx, known, { state: 'failed', reason: required(reason, 'a reason') }),
    ),
  'purchases cancel': (db, [id]) => endPurchase(db, id, cancelByOperator),
  'reconcile match': async (db, [hash, ...ids], config) => {
    if (!/^0x[0-9a-fA-F]{1,64}$/.test(required(hash, 'a transaction hash'))) throw new UsageError('This is no hash.');
    required(ids[0], 'the id of a redeem, gift or purchase');
    return reconciled(await matchByOperator(await reconcileDeps(db, config), BigInt(hash ?? 0), ids));
  },
  'reconcile accept': async (db, [which, reason], config) => {
    const deps = await reconcileDeps(db, config);
    const [known, note] = [required(which, 'a transaction hash or nonce'), required(reason, 'a reason')];
    return reconciled(await acceptByOperator(deps, known, note));
  },
};

const shortCommands: Record<string, Command> = {
  'resume-redeem': async (db, [redeemId]) => {
    const { ok, ...resumed } = await db.tx((tx) => resumeRedeem(tx, required(redeemId, 'a redeem id')));
    if (ok) return { resumed: redeemId, ...resumed };
    throw new UsageError('reason' in resumed ? resumed.reason : 'This redeem cannot be resumed.');
  },
  reconcile: async (db, _, config) => {
    const transactions = await reconcile(await reconcileDeps(db, config));
    return { open: transactions.filter(({ state }) => state === 'OPEN').length, transactions };
  },
};

function reconciled(result: object): object {
  if ('reason' in result && !('state' in result)) throw new UsageError(String(result.reason));
  return result;
}

/** The sandbox's node runs inside the service, which has to run for it. */
async function reconcileDeps(db: Db, config: Config): Promise<ReconcileDeps> {
  const { baseUrl = `http://${config.host}:${config.port}` } = await readCredentials(credentialsFileOf(config));
  const url = `${new URL(baseUrl).origin}/sandbox`;
  const networks = new Networks(
    config.chains,
    config.sandbox ? { url, publicUrl: url, paymentAddress: NO_PAYMENTS } : undefined,
  );
  const log = { info: quiet, warn: quiet, error: report };
  return reconciling({
    db,
    networks,
    outcomes: mergeUnique('relay outcome', [
      gifts.relayOutcomes({ networks, log }),
      purchases.relayOutcomes({ networks, log }),
    ]) as OutcomeHandlers,
  });
}

/** Nothing here asks for the address that payments of purchases go to. */
const NO_PAYMENTS = 1n;
const quiet = () => {};
const report = (fields: object, message: string) =>
  void process.stderr.write(
    `${message} ${JSON.stringify(fields, (_, value) => (typeof value === 'bigint' ? String(value) : value))}\n`,
  );

async function endPurchase(
  db: Db,
  id: string | undefined,
  end: (tx: Db, id: string) => Promise<OperatorResult>,
): Promise<object> {
  const known = required(id, 'a purchase id');
  const ended = await db.tx((tx) => end(tx, known));
  if (!ended.ok) throw new UsageError(ended.reason);
  return { purchase: id, status: ended.status };
}

function readOwner(organizationId: string | undefined, environment: string | undefined): store.Owner {
  return { organizationId: required(organizationId, 'an organisation id'), environment: readEnvironment(environment) };
}

/** Mail of the sandbox is sent by the service, so here the link is printed. */
const linkMails = ({ publicUrl, host, port, mail }: Config): LinkMails => ({
  publicUrl: publicUrl ?? `http://${host}:${port}`,
  mailEnvironment: mail.smtp ? 'production' : undefined,
});

function readEmail(text: string | undefined): string {
  if (/^[^\s@]+@[^\s@]+$/.test(required(text, 'an e-mail address'))) return text ?? '';
  throw new UsageError('This is no e-mail address.');
}

function readRole(name: string | undefined): Role {
  const role = roles.find((known) => known === name);
  if (!role) throw new UsageError(`The role must be one of ${roles.join(', ')}.`);
  return role;
}

function required(value: string | undefined, what: string): string {
  if (!value) throw new UsageError(`This command needs ${what}.`);
  return value;
}

function readEnvironment(name: string | undefined): Environment {
  const environment = environments.find((known) => known === name);
  if (!environment) throw new UsageError('The environment must be production or development.');
  return environment;
}

function findCommand([group = '', verb = '', ...args]: string[]): { command: Command; args: string[] } {
  const long = commands[`${group} ${verb}`];
  if (long) return { command: long, args };
  const short = Object.hasOwn(shortCommands, group) ? shortCommands[group] : undefined;
  if (short) return { command: short, args: verb === '' ? args : [verb, ...args] };
  throw new UsageError('There is no such command.');
}

/** Needs no database. Never replaces a file. */
function createKeystore(file: string, env: Record<string, string | undefined>): object {
  const read = new VariableReader(env);
  const found = keystoreNames.flatMap((name) => {
    const value = read.text(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  read.needed('ACCOUNTS_PASSPHRASE', 'must be set: the keystore is encrypted with it');
  read.finish();
  if (found.length === 0) throw new UsageError(`There is nothing to store: set ${keystoreNames.join(', ')}.`);
  const sealed = sealKeystore(Object.fromEntries(found), read.text('ACCOUNTS_PASSPHRASE') ?? '');
  writeFileSync(file, sealed, { mode: 0o600, flag: 'wx' });
  return { file, holds: found.map(([name]) => name) };
}

/** What a command prints, in the same process. */
export async function administer(words: string[], env: NodeJS.ProcessEnv): Promise<string> {
  if (words[0] === 'keystore' && words[1] === 'create') {
    return `${JSON.stringify(createKeystore(required(words[2], 'a file'), env), null, 2)}\n`;
  }
  const { command, args } = findCommand(words);
  const config = readConfig(env);
  const open = await openStoreBesideService(config);
  try {
    const url = await prepare(config, open, [serverMigrations]);
    const db = connect(url, { max: 1, applicationName: 'svc admin' });
    try {
      return `${JSON.stringify(await command(db, args, config), null, 2)}\n`;
    } finally {
      await db.close();
    }
  } finally {
    await open.close();
  }
}

async function main(): Promise<void> {
  try {
    process.stdout.write(await administer(process.argv.slice(2), process.env));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(error instanceof UsageError ? `${message}\n\n${USAGE}` : `${message}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === import.meta.filename) await main();
