import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, Server } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { asMap, asTexts, parseYaml, type YamlMap } from './yaml.ts';

const run = promisify(execFile);
const POLL_MS = 100;
/** For a machine that is ten times slower. */
const LIMIT_MS = 480_000;
const isRoot = process.getuid?.() === 0;
/** Where the image of PostgreSQL 18 keeps its data. */
const POSTGRES_DATA = '/var/lib/postgresql/18/docker';

export interface ComposeOptions {
  /** Of the project. */
  readonly clone: string;
  /** Stands for the root of the server's file system. */
  readonly root: string;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  readonly ports: Readonly<Record<'proxy' | 'api' | 'postgres', number>>;
  readonly env: Record<string, string>;
}

interface Volume {
  /** On this machine, and in the container. */
  readonly here: string;
  readonly there: string;
}

/** `docker compose` without Docker: processes with the commands, settings, secrets and volumes of compose.yaml. */
export class Compose {
  readonly #options: ComposeOptions;
  readonly #folder: string;
  readonly #running = new Map<string, ChildProcess | Server | 'postgres'>();

  constructor(options: ComposeOptions) {
    this.#options = options;
    this.#folder = path.join(options.clone, 'deploy/compose');
  }

  /** Takes the words behind `docker compose`, and answers what the command prints. */
  async command([verb, ...rest]: readonly string[]): Promise<string> {
    const { flags, names } = split(rest);
    if (verb === 'up') return this.#up(names, flags.has('--no-deps'));
    if (verb === 'stop') return this.#stop(names);
    if (verb === 'ps') return [...this.#running.keys()].join('\n');
    if (verb === 'logs') return names.map((name) => readFileSync(this.#log(name), 'utf8')).join('');
    if (verb !== 'run' && verb !== 'exec') throw new Error(`docker compose ${verb} has no stand-in.`);
    const [name = '', ...own] = names;
    if (verb === 'exec' && !this.#running.has(name)) throw new Error(`${name} is not running.`);
    const program = flags.get('--entrypoint') ?? [];
    const command = own.length + program.length > 0 ? own : asTexts(this.#service(name).command);
    const volumes = (flags.get('--volume') ?? []).map((text) => this.#volume(text));
    return this.#run(name, [...program, ...command], [...volumes, ...this.#volumes(name)]);
  }

  async stopAll(): Promise<void> {
    await this.#stop([...this.#running.keys()].reverse());
  }

  /** What a process of this service has as its environment. */
  environment(name: string): Record<string, string> {
    const image = Object.fromEntries(
      (/^ENV (.*)$/m.exec(readFileSync(path.join(this.#options.clone, 'Dockerfile'), 'utf8'))?.[1] ?? '')
        .split(' ')
        .map((pair) => pair.split('=', 2)),
    );
    const { env_file, environment } = this.#service(name);
    const files = asTexts(env_file).map((file) => linesOf(readFileSync(path.join(this.#folder, file), 'utf8')));
    const own = Object.entries(asMap(environment)).map(([key, value]) => [key, this.#secret(String(value))]);
    const folder = path.join(this.#options.root, 'tmp', name);
    return {
      ...Object.assign({ ...this.#options.env, ...image }, ...files),
      ...Object.fromEntries(own),
      ...{ SVC_DATA_DIR: folder, HOST: '127.0.0.1', PORT: name === 'api' ? String(this.#options.ports.api) : '0' },
    };
  }

  async #up(names: string[], isAlone: boolean): Promise<string> {
    const all = names.length > 0 ? names : Object.keys(asMap(this.#config().services));
    // A container with another image or other settings is replaced.
    if (isAlone) await this.#stop(all);
    for (const name of isAlone ? all : this.#withDependencies(all)) await this.#start(name);
    return '';
  }

  #withDependencies(names: readonly string[]): string[] {
    const order = new Set<string>();
    const add = (name: string) => {
      for (const before of Object.keys(asMap(this.#service(name).depends_on))) add(before);
      order.add(name);
    };
    names.forEach(add);
    return [...order];
  }

  async #start(name: string): Promise<void> {
    if (this.#running.has(name)) return;
    if (name === 'proxy') {
      this.#running.set(name, await startProxy(this.#options.ports));
      return;
    }
    if (name === 'postgres') return this.#startPostgres();
    const { restart, command } = this.#service(name);
    if (restart === 'no') {
      await this.#run(name, asTexts(command), []);
      return;
    }
    rmSync(this.#log(name), { force: true });
    const log = openSync(this.#log(name), 'w');
    const child = spawn(process.execPath, ['packages/server/src/main.ts'], {
      cwd: this.#options.clone,
      env: this.environment(name),
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#running.set(name, child);
    await until(async () => {
      const output = readFileSync(this.#log(name), 'utf8');
      if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
      return output.includes('svc is ready');
    });
  }

  async #stop(names: readonly string[]): Promise<string> {
    for (const name of names) {
      const process = this.#running.get(name);
      this.#running.delete(name);
      if (process === 'postgres') await this.#asPostgres(['pg_ctl', '-D', this.#data(), '-m', 'fast', '-w', 'stop']);
      else if (process instanceof Server) process.close().closeAllConnections();
      else if (process && process.exitCode === null) {
        process.kill('SIGTERM');
        await once(process, 'exit');
      }
    }
    return '';
  }

  async #run(name: string, command: readonly string[], volumes: readonly Volume[]): Promise<string> {
    const words = command.map((word) => inVolumes(word, volumes));
    if (name === 'postgres') return this.#asPostgres(words);
    const { stdout } = await run(process.execPath, words, { cwd: this.#options.clone, env: this.environment(name) });
    return stdout;
  }

  /** PostgreSQL does not run as root. */
  async #asPostgres(words: readonly string[]): Promise<string> {
    const [command = '', ...args] = isRoot ? ['runuser', '-u', 'postgres', '--', ...words] : words;
    const { programs, root, ports } = this.#options;
    const own = { PGHOST: this.#sockets(), PGPORT: String(ports.postgres), PGUSER: 'postgres', LC_ALL: 'C' };
    const env = { PATH: `${programs}:${process.env.PATH}`, ...own };
    // A server keeps the pipes of `pg_ctl start` open.
    if (words.includes('start')) execFileSync(command, args, { cwd: root, env, stdio: 'ignore' });
    else return (await run(command, args, { cwd: root, env })).stdout;
    return '';
  }

  async #startPostgres(): Promise<void> {
    const data = this.#data();
    const volumes = this.#volumes('postgres');
    const { environment, command } = this.#service('postgres');
    const isNew = !existsSync(data) || readdirSync(data).length === 0;
    if (isNew) await this.#makeDatabase(data, asMap(environment));
    const [, ...settings] = asTexts(command).map((word) => inVolumes(word, volumes));
    const own = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${this.#sockets()}`];
    const options = [...settings, ...own].map((word) => `'${word}'`).join(' ');
    await this.#asPostgres(['pg_ctl', '-D', data, '-w', '-t', '300', '-l', `${data}.log`, '-o', options, 'start']);
    this.#running.set('postgres', 'postgres');
    const first = isNew ? volumes.filter(({ there }) => there.startsWith('/docker-entrypoint-initdb.d/')) : [];
    for (const { here } of first) await this.#asPostgres(['bash', '-c', this.#secret(readFileSync(here, 'utf8'))]);
  }

  async #makeDatabase(data: string, { POSTGRES_PASSWORD_FILE, POSTGRES_INITDB_ARGS }: YamlMap): Promise<void> {
    const volume = path.resolve(data, '../..');
    for (const folder of [volume, this.#sockets()]) {
      mkdirSync(folder, { recursive: true });
      if (isRoot) execFileSync('chown', ['postgres', folder]);
    }
    const password = `--pwfile=${this.#secret(String(POSTGRES_PASSWORD_FILE))}`;
    const words = ['initdb', '-D', data, '-U', 'postgres', '--auth-host=scram-sha-256', password, '--no-sync'];
    await this.#asPostgres([...words, String(POSTGRES_INITDB_ARGS)]);
  }

  #sockets(): string {
    return path.join(this.#options.root, 'run');
  }

  #data(): string {
    return inVolumes(POSTGRES_DATA, this.#volumes('postgres'));
  }

  #log(name: string): string {
    return path.join(this.#options.root, `${name}.log`);
  }

  /** With the variables of the file `.env`. */
  #config(): YamlMap {
    const file = path.join(this.#folder, '.env');
    const variables = existsSync(file) ? linesOf(readFileSync(file, 'utf8')) : {};
    const text = readFileSync(path.join(this.#folder, 'compose.yaml'), 'utf8');
    const filled = text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, other: string) => {
      const value = variables[name] ?? (kind === '-' ? other : undefined);
      if (value === undefined) throw new Error(other);
      return value;
    });
    return asMap(parseYaml(filled)[0]);
  }

  #service(name: string): YamlMap {
    const found = asMap(this.#config().services)[name];
    if (found === undefined) throw new Error(`There is no service ${name}.`);
    return asMap(found);
  }

  #volumes(name: string): Volume[] {
    return asTexts(this.#service(name).volumes).map((text) => this.#volume(text));
  }

  #volume(text: string): Volume {
    const [source = '', there = ''] = text.split(':');
    const { root } = this.#options;
    const onServer = () => (source.startsWith(root) ? source : path.join(root, source));
    if (path.isAbsolute(source)) return { here: onServer(), there };
    const here = source.startsWith('.') ? path.resolve(this.#folder, source) : path.join(root, 'volumes', source);
    return { here, there };
  }

  /** Secrets as they are mounted, with the address that the database has here. */
  #secret(text: string): string {
    const declared = asMap(this.#config().secrets);
    return text.replaceAll(/\/run\/secrets\/(\w+)/g, (_, name: string) => {
      const file = path.join(this.#folder, String(asMap(declared[name]).file));
      const content = readFileSync(file, 'utf8').replace(
        '@postgres:5432/',
        `@127.0.0.1:${this.#options.ports.postgres}/`,
      );
      const mounted = path.join(this.#options.root, 'mounted', name);
      mkdirSync(path.dirname(mounted), { recursive: true });
      writeFileSync(mounted, content);
      return mounted;
    });
  }
}

/** Flags of the verb, before the first name; what follows belongs to the command. */
function split(words: readonly string[]): { flags: Map<string, string[]>; names: string[] } {
  const flags = new Map<string, string[]>();
  const rest = [...words];
  while (rest[0]?.startsWith('--')) {
    const flag = rest.shift() ?? '';
    const value = ['--user', '--entrypoint', '--volume'].includes(flag) ? [rest.shift() ?? ''] : [];
    flags.set(flag, [...(flags.get(flag) ?? []), ...value]);
  }
  return { flags, names: rest };
}

const linesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => /^\w/.test(line))
      .map((line) => line.split(/=(.*)/s, 2)),
  );

function inVolumes(text: string, volumes: readonly Volume[]): string {
  return volumes.reduce(
    (all, { here, there }) => all.replaceAll(new RegExp(`(?<=^|[ =])${there}(?=/|$| )`, 'g'), here),
    text,
  );
}

/** As Caddy does with our Caddyfile, but for TLS. */
async function startProxy({ proxy, api }: ComposeOptions['ports']): Promise<Server> {
  const server = createServer((incoming, reply) => {
    if (incoming.url === '/metrics') return reply.writeHead(404).end();
    const forwarded = { 'x-forwarded-for': incoming.socket.remoteAddress ?? '', 'x-forwarded-proto': 'https' };
    const options = { host: '127.0.0.1', port: api, method: incoming.method, path: incoming.url };
    const outgoing = request({ ...options, headers: { ...incoming.headers, ...forwarded } }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    outgoing.once('error', () => reply.destroy());
    return incoming.pipe(outgoing);
  });
  server.listen(proxy, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function until(isThere: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await isThere())) {
    if (Date.now() > deadline) throw new Error('It did not start in time.');
    await pause(POLL_MS);
  }
}
