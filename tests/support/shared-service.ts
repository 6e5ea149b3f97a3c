import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { buildPackage } from '../../packages/sdk/build/build-package.ts';
import { processEnv } from './server.ts';
import { SHARED_SETTINGS, type SharedService, TestService } from './service.ts';
import type { HostAnswer, HostOrder } from './service-host.ts';

declare global {
  /** Where the services of the run are asked for: one for all projects, of which each has its own copy of this file. */
  var svcTestServices: Promise<string> | undefined;
}

/** Starts services for the test files in a few processes, and one that files share; builds the library. All ends with the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const known = globalThis.svcTestServices;
  const own = known ? undefined : start();
  globalThis.svcTestServices ??= own?.then(({ url }) => url);
  project.provide('sharedServiceUrl', (await globalThis.svcTestServices) ?? '');
  return async () => {
    if (!own) return;
    globalThis.svcTestServices = undefined;
    await (await own).stop();
  };
}

async function start(): Promise<{ url: string; stop(): Promise<void> }> {
  const hosts = new ServiceHosts();
  const shared = new SharedServer();
  let sdk: Promise<string> | undefined;
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    if (request.method === 'POST') return hosts.order((await json(request)) as HostOrder);
    if (request.method === 'DELETE') return shared.release();
    if (request.url === '/sdk') {
      sdk ??= buildSdk();
      return { folder: await sdk };
    }
    return shared.take();
  };
  const server = createServer(async (request, response) => {
    try {
      response.end(JSON.stringify(await answer(request)));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: async () => {
      server.close();
      await shared.stop();
      await hosts.close();
      await sdk?.then((folder) => rm(folder, { recursive: true, force: true })).catch(() => {});
    },
  };
}

/** Idle it takes a twenty-fifth of a core, and a start takes four seconds of one. */
const UNUSED_MS = 60_000;

/** The service that files share: it runs while one of them uses it. */
class SharedServer {
  #running: Promise<TestService> | undefined;
  #users = 0;
  #unused: NodeJS.Timeout | undefined;

  async take(): Promise<SharedService> {
    clearTimeout(this.#unused);
    this.#users++;
    this.#running ??= TestService.start(SHARED_SETTINGS);
    const { database, server } = await this.#running;
    const { origin, credentials, outputFile } = server;
    return { databaseUrl: database.url, outputFile, origin, credentials };
  }

  release(): object {
    this.#users--;
    if (this.#users === 0) this.#unused = setTimeout(() => void this.stop(), UNUSED_MS);
    return {};
  }

  async stop(): Promise<void> {
    clearTimeout(this.#unused);
    const ending = this.#running;
    this.#running = undefined;
    // The PostgreSQL of the run may have ended already, and the database with it.
    await ending?.then((service) => service.stop()).catch(() => {});
  }
}

/** The library as it is published: building it takes the compiler some seconds. */
async function buildSdk(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-test-sdk-'));
  await buildPackage(folder);
  return folder;
}

/** More would load and optimise the same code once more each. */
const MAX_HOSTS = availableParallelism();
const HOST = path.resolve(import.meta.dirname, 'service-host.ts');

class Host {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<string, (error: string | undefined) => void>();
  /** Ids of the services that it runs. */
  readonly running = new Set<string>();
  readonly exited: Promise<void>;

  constructor() {
    this.#process = fork(HOST, { env: processEnv(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#process.on('message', ({ id, error }: HostAnswer) => this.#waiting.get(id)?.(error));
    this.exited = new Promise((resolve) => this.#process.once('exit', () => resolve()));
    void this.exited.then(() => {
      for (const end of this.#waiting.values()) end('The process that runs services for tests has ended.');
    });
  }

  async order(order: HostOrder): Promise<void> {
    const error = await new Promise<string | undefined>((resolve) => {
      this.#waiting.set(order.id, resolve);
      this.#process.send(order);
    });
    this.#waiting.delete(order.id);
    if (error !== undefined) throw new Error(error);
  }

  close(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    return this.exited;
  }
}

class ServiceHosts {
  readonly #hosts: Host[] = [];

  async order(order: HostOrder): Promise<object> {
    if ('stop' in order) {
      const host = this.#hosts.find(({ running }) => running.delete(order.id));
      await host?.order(order);
      return {};
    }
    const host = this.#next();
    host.running.add(order.id);
    await host.order(order).catch((error: unknown) => {
      host.running.delete(order.id);
      throw error;
    });
    return {};
  }

  /** The one with the fewest services, which may be new. */
  #next(): Host {
    const [first] = this.#hosts.toSorted((one, other) => one.running.size - other.running.size);
    if (first && (first.running.size === 0 || this.#hosts.length >= MAX_HOSTS)) return first;
    const host = new Host();
    this.#hosts.push(host);
    return host;
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
  }
}
