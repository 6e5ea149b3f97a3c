import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { accountAddress, CURVE_ORDER, starkKey, toHex } from '@svc/starknet';
import { padAddress } from '../../packages/server/src/chains/starknet/chain.ts';
import { VariableReader } from '../../packages/server/src/env-reader.ts';

export type Role = 'relayer' | 'manager' | 'payment';

export interface SetupAccount {
  readonly role: Role;
  readonly address: bigint;
  /** Undefined: only its address is known here. */
  readonly privateKey: bigint | undefined;
}

export interface SetupFiles {
  readonly env: string;
  readonly secrets: string;
  readonly state: string;
}

export function filesIn(folder: string): SetupFiles {
  return {
    env: path.join(folder, 'svc.env'),
    secrets: path.join(folder, 'secrets'),
    state: path.join(folder, 'setup.json'),
  };
}

/** Where a role's key comes from: a variable of the environment, or a file that is made here. */
const names = {
  relayer: { variable: 'RELAYER_ACCOUNTS', file: 'relayer_accounts' },
  manager: { variable: 'MANAGER_ACCOUNT', file: 'manager_account' },
  payment: { variable: 'PAYMENT_ACCOUNT', file: 'payment_account' },
} as const;

export const fileOf = (files: SetupFiles, role: Role): string => path.join(files.secrets, names[role].file);

/** Keys of the environment first, then those of an earlier run, then new ones, which are stored before anything else happens. */
export function takeAccounts(
  env: Record<string, string | undefined>,
  files: SetupFiles,
  options: { readonly relayers: number; readonly accountClass: bigint },
): SetupAccount[] {
  mkdirSync(files.secrets, { recursive: true, mode: 0o700 });
  return (['relayer', 'manager', 'payment'] as const).flatMap((role) => {
    const given = givenAccounts(env, role);
    if (given) return given.map((account) => ({ role, ...account }));
    const file = fileOf(files, role);
    const text = keepSecret(file, () =>
      Array.from({ length: role === 'relayer' ? options.relayers : 1 }, () => newAccount(options.accountClass)).join(),
    );
    const stored = readAccounts({ [names[role].variable]: text }, role);
    return stored.map((account) => ({ role, ...account }));
  });
}

function givenAccounts(env: Record<string, string | undefined>, role: Role) {
  const { variable } = names[role];
  if (env[variable] || env[`${variable}_FILE`]) return readAccounts(env, role);
  if (role !== 'payment') return undefined;
  const reader = new VariableReader(env);
  const address = reader.starknetAddress('PAYMENT_ADDRESS');
  reader.finish();
  return address && [{ address: BigInt(address), privateKey: undefined }];
}

/** A key that a signer holds is not known here. */
function readAccounts(env: Record<string, string | undefined>, role: Role): Omit<SetupAccount, 'role'>[] {
  const reader = new VariableReader(env);
  const found = reader.accounts(names[role].variable);
  reader.finish();
  return found.map((account) => ({
    address: account.address,
    privateKey: 'privateKey' in account ? account.privateKey : undefined,
  }));
}

function newAccount(classHash: bigint): string {
  const privateKey = (BigInt(`0x${randomBytes(48).toString('hex')}`) % (CURVE_ORDER - 1n)) + 1n;
  return `${padAddress(accountAddress(classHash, starkKey(privateKey)))}:${toHex(privateKey)}`;
}

/** The content of the file, which is made if it is missing. Never replaces one; for its owner only. */
export function keepSecret(file: string, make: () => string): string {
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}.draft`;
    writeFileSync(draft, `${make()}\n`, { mode: 0o600, flush: true });
    try {
      linkSync(draft, file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  if ((statSync(file).mode & 0o077) !== 0 && (statSync(path.dirname(file)).mode & 0o077) !== 0) chmodSync(file, 0o600);
  return readFileSync(file, 'utf8').trim();
}

/** Replaces the lines of these variables, and keeps all others. */
export function mergeEnv(existing: string, values: Readonly<Record<string, string>>): string {
  const lines = existing.split('\n');
  const open = new Map(Object.entries(values));
  const kept = lines.map((line) => {
    const name = /^([A-Z_]+)=/.exec(line)?.[1];
    const value = name === undefined ? undefined : open.get(name);
    if (name === undefined || value === undefined) return line;
    open.delete(name);
    return `${name}=${value}`;
  });
  while (kept.at(-1) === '') kept.pop();
  return `${[...kept, ...[...open].map(([name, value]) => `${name}=${value}`)].join('\n')}\n`;
}

export function readEnvFile(file: string): Record<string, string> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return Object.fromEntries(
    lines.flatMap((line) => [/^([A-Z_]+)=(.*)$/.exec(line)?.slice(1)].filter((pair) => !!pair)),
  );
}
