import { type Environment, environments } from '@svc/protocol';
import { connect, type Db, migrate } from '@svc/store';
import { type Config, readConfig } from './config.ts';
import { openStoreBesideService, serverMigrations } from './database.ts';
import { resumeRedeem } from './gifts/operator.ts';
import { createOrganization } from './organizations/api-keys.ts';
import { createKeys, revokeKey, setSettings, showSettings } from './organizations/operator.ts';
import * as store from './organizations/organization-store.ts';
import { cancelByOperator, endByOperator, type OperatorResult, stuckPurchases } from './purchases/operator.ts';

const USAGE = `The operator's commands, on the same database as the service (running or not):

  npm run admin -- organizations list
  npm run admin -- organizations create "<name>"
  npm run admin -- keys list <organization id>
  npm run admin -- keys create <organization id> <production|development>
  npm run admin -- keys revoke <key id>
  npm run admin -- settings show <organization id> <production|development>
  npm run admin -- settings set <organization id> <production|development> <name>=<value> ...
  npm run admin -- resume-redeem <redeem id>
  npm run admin -- purchases stuck
  npm run admin -- purchases complete <purchase id> "<file number>"
  npm run admin -- purchases fail <purchase id> "<reason>"
  npm run admin -- purchases cancel <purchase id>

A redeem to Solana that failed after its USDC was burned is sent on by resume-redeem.
A purchase whose provider cannot be reached is ended by your word. Ask the provider first: what it has delivered must not
fail, because the payment of a failed purchase is given back.

Settings: jwksUrl, jwtIssuer, jwtAudience, jwtUserClaim, giftsNeedSecretKey, notificationEmail. An empty value clears one.
`;

const LIST_LIMIT = 1_000;

class UsageError extends Error {}

type Command = (db: Db, args: string[], config: Config) => Promise<unknown>;

const commands: Record<string, Command> = {
  'organizations list': (db) => store.listOrganizations(db, LIST_LIMIT),
  'organizations create': async (db, [name]) => ({ id: await createOrganization(db, required(name, 'a name')) }),
  'keys list': (db, [organizationId]) => store.listKeys(db, required(organizationId, 'an organisation id'), LIST_LIMIT),
  'keys create': async (db, [organizationId, environment]) => ({
    ...(await createKeys(db, readOwner(organizationId, environment))),
    note: 'The secret key is shown this once.',
  }),
  'keys revoke': async (db, [keyId]) => {
    if (await revokeKey(db, required(keyId, 'a key id'))) return { revoked: keyId };
    throw new UsageError('No key in use has this id.');
  },
  'settings show': (db, [organizationId, environment]) => showSettings(db, readOwner(organizationId, environment)),
  'settings set': (db, [organizationId, environment, ...changes], { allowLoopbackUrls }) => {
    const owner = readOwner(organizationId, environment);
    required(changes[0], 'a setting and its value');
    return setSettings(db, owner, changes, { allowLoopback: allowLoopbackUrls });
  },
  'purchases stuck': (db) => stuckPurchases(db, LIST_LIMIT),
  'purchases complete': (db, [id, fileNumber]) =>
    endPurchase(id, (known) =>
      endByOperator(db, known, { state: 'completed', fileNumber: required(fileNumber, 'a file number') }),
    ),
  'purchases fail': (db, [id, reason]) =>
    endPurchase(id, (known) => endByOperator(db, known, { state: 'failed', reason: required(reason, 'a reason') })),
  'purchases cancel': (db, [id]) => endPurchase(id, (known) => cancelByOperator(db, known)),
};

/** Commands of one word. */
const shortCommands: Record<string, Command> = {
  'resume-redeem': async (db, [redeemId]) => {
    const { ok, ...resumed } = await resumeRedeem(db, required(redeemId, 'a redeem id'));
    if (ok) return { resumed: redeemId, ...resumed };
    throw new UsageError('reason' in resumed ? resumed.reason : 'This redeem cannot be resumed.');
  },
};

async function endPurchase(id: string | undefined, end: (id: string) => Promise<OperatorResult>): Promise<object> {
  const ended = await end(required(id, 'a purchase id'));
  if (!ended.ok) throw new UsageError(ended.reason);
  return { purchase: id, status: ended.status };
}

function readOwner(organizationId: string | undefined, environment: string | undefined): store.Owner {
  return { organizationId: required(organizationId, 'an organisation id'), environment: readEnvironment(environment) };
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
  const config = readConfig(process.env);
  const open = await openStoreBesideService(config);
  try {
    await migrate(open.url, [serverMigrations]);
    const db = connect(open.url, { max: 1, applicationName: 'svc admin' });
    try {
      process.stdout.write(`${JSON.stringify(await command(db, args, config), null, 2)}\n`);
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
