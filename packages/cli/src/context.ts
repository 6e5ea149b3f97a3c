import { createOperator, createSvc, type OperatorClient, type Svc } from '@svc/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type FoundCredentials, findCredentials, type GivenCredentials } from './credentials.ts';
import { CliError, exitCodes, usage } from './failure.ts';
import { Output } from './output.ts';

export interface GlobalOptions extends GivenCredentials {
  readonly json?: boolean;
}

/** What every command works with. Credentials are looked for when a command needs them. */
export class Context {
  readonly out: Output;
  readonly #options: GlobalOptions;
  #found: FoundCredentials | undefined;
  #svc: Svc | undefined;

  constructor(options: GlobalOptions) {
    this.#options = options;
    this.out = new Output({ json: options.json === true });
  }

  get credentials(): FoundCredentials {
    this.#found ??= findCredentials(this.#options, process.env, process.cwd());
    return this.#found;
  }

  get svc(): Svc {
    const { baseUrl, publicKey, secretKey } = this.credentials;
    if (publicKey === undefined || secretKey === undefined) {
      throw usage('This command needs both keys. Set SVC_PUBLIC_KEY and SVC_SECRET_KEY.');
    }
    this.#svc ??= createSvc({ baseUrl, publicKey, secretKey });
    return this.#svc;
  }

  get operator(): OperatorClient {
    const operatorToken = process.env.OPERATOR_TOKEN;
    if (operatorToken) return createOperator({ baseUrl: this.credentials.baseUrl, operatorToken });
    throw usage(
      "This command needs OPERATOR_TOKEN: the one that the service was started with, in this shell's environment.",
    );
  }

  get origin(): string {
    return new URL(this.credentials.baseUrl).origin;
  }

  get environment(): 'production' | 'development' {
    return this.credentials.publicKey?.startsWith('pk_prod_') ? 'production' : 'development';
  }

  /** The controls of development, which need no key. */
  async sandbox<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
    const { status, answer } = await fetchJson(`${this.origin}/sandbox${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (status < 400) return answer as T;
    const { error = 'failed', message } = answer as { error?: string; message?: string };
    if (status === 404) throw new CliError('no_sandbox', 'This service has no sandbox: it runs in development only.');
    throw new CliError(error, message ?? `The sandbox answered ${status}.`);
  }
}

const TIMEOUT_MS = 60_000;

export async function fetchJson(url: string, init: RequestInit = {}): Promise<{ status: number; answer: unknown }> {
  const { host } = new URL(url);
  const unreachable = `${host} could not be reached. Is the service running? Start it with svc dev, or set SVC_BASE_URL.`;
  const response = await fetch(url, {
    ...init,
    redirect: 'manual',
    signal: init.signal ?? AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new CliError('connection_failed', unreachable, exitCodes.unreachable, { cause });
  });
  const text = await response.text();
  try {
    return { status: response.status, answer: JSON.parse(text) };
  } catch {
    return { status: response.status, answer: {} };
  }
}

/** For `command.action`: hands over the context, the command's options and its arguments. */
export const action =
  <O>(run: (context: Context, options: O, ...args: string[]) => Promise<void>) =>
  async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = command.optsWithGlobals<O & GlobalOptions>();
    const context = new Context(options);
    context.out.busy('Waiting for the service');
    try {
      await run(context, options, ...(given.slice(0, -2) as string[]));
    } finally {
      context.out.stop();
    }
  };

/** For an option that takes a whole number. */
export const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };

export const choice = (flags: string, description: string, values: readonly string[]): Option =>
  new Option(flags, description).choices(values);

const MAX_LIMIT = 1_000_000;

export const withLimit = (command: Command): Command =>
  command
    .option('-n, --limit <count>', 'how many at most', whole(1, MAX_LIMIT), 25)
    .option('--all', 'all of them, instead of --limit');

export interface LimitOptions {
  readonly limit: number;
  readonly all?: boolean;
}

/** Reads pages on demand until there are enough. */
export async function take<T>(items: AsyncIterable<T>, { limit, all }: LimitOptions): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (!all && taken.length >= limit) break;
  }
  return taken;
}

export const pageSize = ({ limit, all }: LimitOptions): number => (all ? 100 : Math.min(limit, 100));

export const group = (name: string, description: string): Command =>
  new Command(name).description(description).helpCommand(false);
