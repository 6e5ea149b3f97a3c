import { type Environment, environments } from '@svc/protocol';
import { connect, type Db, migrate } from '@svc/store';
import { readConfig } from './config.ts';
import { resumeRedeem } from './gifts/bridging/resume.ts';
import { serverMigrations } from './migrations.ts';
import { openStoreBesideService } from './open-store.ts';
import type { KeyKind } from './organizations/keys.ts';
import { createOrganization, issueKey } from './organizations/service.ts';
import { changeSettings, showSettings } from './organizations/settings.ts';
import * as store from './organizations/store.ts';

const USAGE = `The operator's commands, on the same database as the service (running or not):

  npm run admin -- organizations list
  npm run admin -- organizations create "<name>"
  npm run admin -- keys list <organization id>
  npm run admin -- keys create <organization id> <production|development>
  npm run admin -- keys revoke <key id>
  npm run admin -- settings show <organization id> <production|development>
  npm run admin -- settings set <organization id> <production|development> <name>=<value> ...
  npm run admin -- resume-redeem <redeem id>

A redeem to Solana that failed after its USDC was burned is sent on by resume-redeem.

Settings: jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim, giftsNeedSecretKey, notificationEmail. An empty value clears one.
`;

/** More organisations or keys than this do not fit a terminal; the list says so by stopping. */
const LIST_LIMIT = 1_000;

class UsageError extends Error {}

type Command = (db: Db, args: string[]) => Promise<unknown>;

const commands: Record<string, Command> = {
  'organizations list': (db) => store.listOrganizations(db, LIST_LIMIT),
  'organizations create': async (db, [name]) => ({ id: await createOrganization(db, required(name, 'a name')) }),
  'keys list': (db, [organizationId]) => store.listKeys(db, required(organizationId, 'an organisation id'), LIST_LIMIT),
  'keys create': (db, [organizationId, environment]) => createKeys(db, organizationId, environment),
  'keys revoke': async (db, [keyId]) => {
    if (await store.revokeKey(db, required(keyId, 'a key id'))) return { revoked: keyId };
    throw new UsageError('No key in use has this id.');
  },
  'settings show': (db, [organizationId, environment]) =>
    showSettings(db, required(organizationId, 'an organisation id'), readEnvironment(environment)),
  'settings set': (db, [organizationId, environment, ...changes]) =>
    changeSettings(db, required(organizationId, 'an organisation id'), readEnvironment(environment), changes),
};

/** Commands of one word; the rest are its arguments. */
const shortCommands: Record<string, Command> = {
  'resume-redeem': async (db, [redeemId]) => {
    const { ok, ...resumed } = await resumeRedeem(db, required(redeemId, 'a redeem id'));
    if (ok) return { resumed: redeemId, ...resumed };
    throw new UsageError('reason' in resumed ? resumed.reason : 'This redeem cannot be resumed.');
  },
};

async function createKeys(db: Db, organization: string | undefined, name: string | undefined): Promise<unknown> {
  const organizationId = required(organization, 'an organisation id');
  const environment = readEnvironment(name);
  if (!(await store.findOrganization(db, organizationId))) throw new UsageError('No organisation has this id.');
  const issue = (kind: KeyKind) => issueKey(db, { organizationId, environment, kind });
  const [publicKey, secretKey] = [await issue('public'), await issue('secret')];
  return { publicKey: publicKey.value, secretKey: secretKey.value, note: 'The secret key is shown this once.' };
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

async function main(words: string[]): Promise<void> {
  const { command, args } = findCommand(words);
  const open = await openStoreBesideService(readConfig(process.env));
  try {
    await migrate(open.url, [serverMigrations]);
    const db = connect(open.url, { max: 1, applicationName: 'svc admin' });
    try {
      process.stdout.write(`${JSON.stringify(await command(db, args), null, 2)}\n`);
    } finally {
      await db.close();
    }
  } finally {
    await open.close();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof UsageError ? `${message}\n\n${USAGE}` : `${message}\n`);
  process.exitCode = 1;
});
