import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@svc/store/testing';
import { withClient } from '../../packages/store/src/client.ts';
import { type Account, chooseAccount, isRoot } from '../../packages/store/src/embedded/account.ts';
import { type Binaries, findBinaries } from '../../packages/store/src/embedded/binaries.ts';
import { environment, identity, run } from '../../packages/store/src/embedded/command.ts';
import { eventually } from './eventually.ts';

const ROLE = 'svc';
const DATABASE = 'svc';
const START_MS = 120_000;
const COMMON = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  wal_level: 'replica',
};

/** A primary and a synchronous standby: what the primary acknowledges, the standby has. From the programs of the embedded database. */
export class PostgresPair {
  /** Names both hosts. */
  readonly url: string;
  readonly #folder: string;
  readonly #account: Account | undefined;
  readonly #binaries: Binaries;
  readonly #ports: readonly [number, number];
  readonly #running: ChildProcess[] = [];

  static async start(): Promise<PostgresPair> {
    const account = isRoot() ? chooseAccount() : undefined;
    const folder = temporaryFolder('svc-pair-');
    if (account) await chown(folder, account.uid, account.gid);
    const binaries = await findBinaries({ account, copyRoot: folder, log: () => {} });
    const pair = new PostgresPair(folder, account, binaries, [await freePort(), await freePort()]);
    await pair.#create();
    return pair;
  }

  private constructor(folder: string, account: Account | undefined, binaries: Binaries, ports: [number, number]) {
    this.#folder = folder;
    this.#account = account;
    this.#binaries = binaries;
    this.#ports = ports;
    this.url = `postgres://${ROLE}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${DATABASE}`;
  }

  /** SIGKILL to the server and all its processes. */
  async killPrimary(): Promise<void> {
    const [primary] = this.#running;
    if (primary?.pid === undefined) throw new Error('There is no primary.');
    const exited = once(primary, 'exit');
    process.kill(-primary.pid, 'SIGKILL');
    await exited;
  }

  /** It knows nothing of the promotion and takes writes again. */
  async restartPrimary(): Promise<void> {
    this.#launch(0, {});
    await this.#ready(0);
  }

  async promoteStandby(): Promise<void> {
    await this.#ask(1, 'select pg_promote(true, 60)');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map(end));
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** The standby begins as a copy of the stopped primary. */
  async #create(): Promise<void> {
    const [primary, standby] = [this.#data(0), this.#data(1)];
    const options = { account: this.#account, cwd: this.#folder, timeoutMs: START_MS };
    const settings = ['--username', ROLE, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    await run(this.#binaries.initdb, ['-D', primary, ...settings], options);
    const alone = this.#launch(0, {});
    await this.#ready(0);
    await this.#ask(0, `create database ${DATABASE}`);
    await end(alone);
    await promisify(execFile)('cp', ['-a', primary, standby]);
    await writeFile(path.join(standby, 'standby.signal'), '');
    this.#running.length = 0;
    this.#launch(0, { synchronous_standby_names: '*' });
    this.#launch(1, { primary_conninfo: `host=127.0.0.1 port=${this.#ports[0]} user=${ROLE}` });
    await this.#ready(0);
    await this.#ready(1);
    const synchronous = () => this.#ask(0, `select from pg_stat_replication where sync_state = 'sync'`);
    const rows = await eventually(synchronous, (count) => count === 1, START_MS);
    if (rows !== 1) throw new Error('The standby does not follow the primary.');
  }

  #data(index: number): string {
    return path.join(this.#folder, index === 0 ? 'primary' : 'standby');
  }

  #launch(index: 0 | 1, settings: Record<string, string>): ChildProcess {
    const all = { ...COMMON, port: String(this.#ports[index]), ...settings };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(this.#binaries.postgres, ['-D', this.#data(index), ...args], {
      ...identity(this.#account),
      cwd: this.#folder,
      env: environment(),
      // A group of its own, which is killed as a whole.
      detached: true,
      stdio: 'ignore',
    });
    this.#running.push(server);
    return server;
  }

  async #ready(index: 0 | 1): Promise<void> {
    const answers = () =>
      this.#ask(index, 'select 1').then(
        () => true,
        () => false,
      );
    if (!(await eventually(answers, Boolean, START_MS))) throw new Error('PostgreSQL does not answer.');
  }

  async #ask(index: 0 | 1, query: string): Promise<number | null> {
    const url = `postgres://${ROLE}@127.0.0.1:${this.#ports[index]}/postgres`;
    return (await withClient(url, {}, (client) => client.query(query))).rowCount;
  }
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill('SIGINT');
  await exited;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
