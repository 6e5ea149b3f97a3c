import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { EmbeddedPostgresError } from './error.ts';

/** PostgreSQL refuses to run as root. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

export function chooseAccount(passwd: string = readFileSync('/etc/passwd', 'utf8')): Account {
  const accounts = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid, gid }) => name !== '' && uid > 0 && gid > 0);
  const named = (name: string) => accounts.find((account) => account.name === name);
  const account = named('postgres') ?? named('nobody') ?? accounts[0];
  if (account) return account;
  throw new EmbeddedPostgresError(
    'unreachable',
    'PostgreSQL does not run as root, and /etc/passwd names no other user. Set DATABASE_URL, or start svc as another user.',
  );
}

export function reachable(target: string, account: Account): boolean {
  for (let folder = path.resolve(target); ; folder = path.dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat?.isDirectory() && !mayPass(stat, account)) return false;
    if (folder === path.dirname(folder)) return true;
  }
}

function mayPass(stat: { mode: number; uid: number; gid: number }, account: Account): boolean {
  const bit = stat.uid === account.uid ? 0o100 : stat.gid === account.gid ? 0o010 : 0o001;
  return (stat.mode & bit) !== 0;
}
