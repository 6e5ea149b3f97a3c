import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Account, chooseAccount, isRoot, reachable } from './account.ts';
import { EmbeddedPostgresError } from './error.ts';

/** Used as root, where the database's user cannot enter the project's folder. */
export const SHARED_ROOT = '/var/lib/svc';

export interface Place {
  /** Holds the files below, so that one rename makes a complete cluster appear. */
  readonly folder: string;
  readonly data: string;
  readonly passwordFile: string;
  readonly logFile: string;
  readonly account: Account | undefined; // undefined: the user of this process
}

export function choosePlace(dataDir: string, log: (line: string) => void, sharedRoot: string = SHARED_ROOT): Place {
  makeFolder(dataDir);
  const home = realpathSync(dataDir);
  const own = path.join(home, 'postgres');
  if (!isRoot()) return placeIn(own, undefined);

  const shared = path.join(sharedRoot, nameOf(home), 'postgres');
  const owner = ownerOf(own);
  if (owner) {
    if (owner.uid > 0 && reachable(path.join(own, 'data'), owner)) return placeIn(own, owner);
    throw new EmbeddedPostgresError(
      'unreachable',
      `The database in ${own} belongs to user ${owner.name}, as whom PostgreSQL cannot run there. It must not be root, ` +
        'and must be able to enter every folder above it.',
    );
  }
  const account = ownerOf(shared) ?? chooseAccount();
  if (!existsSync(shared) && reachable(home, account)) return placeIn(own, account);
  makeFolder(path.dirname(shared));
  log(`The database is kept in ${shared}, because the user that PostgreSQL runs as cannot enter ${home}.`);
  return placeIn(shared, account);
}

export function embeddedFolder(dataDir: string): string {
  return choosePlace(dataDir, () => {}).folder;
}

export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined || !isRoot()) return;
  for (let made = path.resolve(folder); made.startsWith(path.resolve(first)); made = path.dirname(made)) {
    chmodSync(made, 0o755);
  }
}

function placeIn(folder: string, account: Account | undefined): Place {
  return {
    folder,
    data: path.join(folder, 'data'),
    passwordFile: path.join(folder, 'password'),
    logFile: path.join(folder, 'postgres.log'),
    account,
  };
}

// The server runs as the owner of its data, also when root starts it.
function ownerOf(folder: string): Account | undefined {
  const stat = statSync(path.join(folder, 'data'), { throwIfNoEntry: false });
  return stat && { name: `number ${stat.uid}`, uid: stat.uid, gid: stat.gid };
}

function nameOf(home: string): string {
  const digest = createHash('sha256').update(home).digest('hex').slice(0, 12);
  const readable = home.replaceAll(/[^A-Za-z0-9]+/g, '-').replace(/^-/, '');
  return `${readable.slice(-40)}-${digest}`;
}
