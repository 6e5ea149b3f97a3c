import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANY_CALLER, chainIds, encodeCalls, toHex } from '@svc/starknet';
import {
  Account,
  type BigNumberish,
  type Call,
  CallData,
  OutsideExecutionVersion,
  outsideExecution,
  RpcError,
  RpcProvider,
  stark,
  type TypedData,
} from 'starknet';
import { rawInvoke } from '../src/chains/starknet/chain.ts';
import { RpcStarknetChain } from '../src/chains/starknet/rpc-chain.ts';
import { NO_FEE } from '../src/relayer/invoke.ts';

const codes = {
  INVALID_ADDRESS: 150,
  TOKEN_NOT_SUPPORTED: 151,
  INVALID_SIGNATURE: 153,
  MAX_AMOUNT_TOO_LOW: 154,
  CLASS_HASH_NOT_SUPPORTED: 155,
  TRANSACTION_EXECUTION_ERROR: 156,
  INVALID_TIME_BOUNDS: 157,
  INVALID_DEPLOYMENT_DATA: 158,
  INVALID_CLASS_HASH: 159,
  INVALID_ID: 160,
  UNKNOWN_ERROR: 163,
} as const;

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export class Snip29Error extends Error {
  readonly failure: RpcFailure;

  constructor(name: keyof typeof codes, data?: unknown) {
    super(name);
    this.failure = { code: codes[name], message: `An error occurred (${name})`, ...(data !== undefined && { data }) };
  }
}

export const invalidParams: RpcFailure = { code: -32602, message: 'Invalid params' };
export const methodNotFound: RpcFailure = { code: -32601, message: 'Method not found' };

export interface Snip29Options {
  readonly rpcUrl: string;
  readonly apiKey: string;
  readonly account: { readonly address: bigint; readonly privateKey: bigint };
  /** The allowed caller of what it builds; default: any. */
  readonly caller?: bigint;
}

interface WireCall {
  readonly to: string;
  readonly selector: string;
  readonly calldata: readonly string[];
}

interface WireDeployment {
  readonly address: string;
  readonly class_hash: string;
  readonly salt: string;
  readonly calldata: readonly string[];
}

interface Request {
  readonly transaction: {
    readonly type: 'invoke' | 'deploy' | 'deploy_and_invoke';
    readonly invoke?: {
      readonly user_address: string;
      readonly calls?: readonly WireCall[];
      readonly typed_data?: TypedData;
      readonly signature?: readonly string[];
    };
    readonly deployment?: WireDeployment;
  };
  readonly parameters: {
    readonly version: string;
    readonly fee_mode: { readonly mode: string };
    readonly time_bounds?: { readonly execute_after: number; readonly execute_before: number };
  };
}

const UDC = '0x2ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125';
const STRK = '0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d';
const HOUR_S = 3_600;
const FEE = '0x2386f26fc10000';
/** More than any transaction here uses. */
const AMPLE = {
  tip: 0n,
  resourceBounds: {
    l1_gas: { max_amount: 0n, max_price_per_unit: 10n ** 15n },
    l1_data_gas: { max_amount: 20_000n, max_price_per_unit: 50_000n },
    l2_gas: { max_amount: 200_000_000n, max_price_per_unit: 10_000_000_000n },
  },
};

/** Sponsors every holder of its API key. Written with starknet.js, so that an error of our own cannot hide. */
export class Snip29Paymaster {
  readonly #options: Snip29Options;
  readonly #provider: RpcProvider;
  readonly #chain: RpcStarknetChain;
  readonly #account: Account;
  /** One nonce after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: Snip29Options) {
    this.#options = options;
    this.#provider = new RpcProvider({ nodeUrl: options.rpcUrl });
    this.#chain = new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls: [options.rpcUrl] });
    const { address, privateKey } = options.account;
    this.#account = new Account({
      provider: this.#provider,
      address: toHex(address),
      signer: toHex(privateKey),
      cairoVersion: '1',
    });
  }

  supportedTokens() {
    return [{ token_address: STRK, decimals: 18, price_in_strk: '0xde0b6b3a7640000' }];
  }

  async build(request: Request, apiKey: string | undefined) {
    this.#authorize(request, apiKey);
    const { transaction } = request;
    const parameters = { ...request.parameters, time_bounds: await this.#timeBounds(request) };
    const fee = {
      gas_token_price_in_strk: '0xde0b6b3a7640000',
      estimated_fee_in_strk: FEE,
      estimated_fee_in_gas_token: FEE,
      suggested_max_fee_in_strk: FEE,
      suggested_max_fee_in_gas_token: FEE,
    };
    const { type, invoke, deployment } = transaction;
    if (type === 'deploy') return { type, deployment: need(deployment), parameters, fee };
    const { user_address, calls = [] } = need(invoke);
    if (calls.length === 0) throw new Snip29Error('TRANSACTION_EXECUTION_ERROR', { execution_error: 'no calls' });
    if (type === 'invoke') await this.#mustWork(user_address, calls);
    const typed_data = outsideExecution.getTypedData(
      toHex(chainIds.SVC_SANDBOX),
      { caller: toHex(this.#options.caller ?? ANY_CALLER), ...parameters.time_bounds },
      stark.randomAddress(),
      // The library knows functions by name only, so the calls go in afterwards.
      [],
      OutsideExecutionVersion.V2,
    );
    const Calls = calls.map(({ to, selector, calldata }) => ({ To: to, Selector: selector, Calldata: calldata }));
    const built = { ...typed_data, message: { ...typed_data.message, Calls } };
    return { type, ...(deployment && { deployment }), typed_data: built, parameters, fee };
  }

  async execute(request: Request, apiKey: string | undefined) {
    this.#authorize(request, apiKey);
    await this.#timeBounds(request);
    const { type, invoke, deployment } = request.transaction;
    const calls: Call[] = type === 'invoke' ? [] : [deploy(need(deployment))];
    if (type !== 'deploy') calls.push(...(await this.#signedCalls(need(invoke), type === 'invoke')));
    const transaction_hash = await this.#inTurn(() => this.#send(calls));
    return { tracking_id: '0x0', transaction_hash };
  }

  #authorize({ parameters }: Request, apiKey: string | undefined): void {
    if (parameters.version !== '0x1') throw new TypeError('version');
    if (parameters.fee_mode.mode !== 'sponsored') throw new Snip29Error('TOKEN_NOT_SUPPORTED');
    if (apiKey !== this.#options.apiKey) throw new Snip29Error('UNKNOWN_ERROR', 'x-paymaster-api-key is invalid');
  }

  async #timeBounds({ parameters }: Request) {
    const latest = (await this.#provider.getBlock('latest')).timestamp;
    const now = Math.max(latest, Math.floor(Date.now() / 1_000));
    const bounds = parameters.time_bounds ?? { execute_after: 1, execute_before: now + HOUR_S };
    if (typeof bounds.execute_after !== 'number' || typeof bounds.execute_before !== 'number') {
      throw new TypeError('time_bounds');
    }
    if (bounds.execute_after >= bounds.execute_before || bounds.execute_before <= now) {
      throw new Snip29Error('INVALID_TIME_BOUNDS');
    }
    return bounds;
  }

  /** As if the account sent the calls itself. */
  async #mustWork(user: string, calls: readonly WireCall[]): Promise<void> {
    const nonce = await this.#chain.nonceAt(BigInt(user), 'pre_confirmed');
    if (nonce === undefined) throw new Snip29Error('INVALID_ADDRESS');
    const list = calls.map(({ to, selector, calldata }) => ({
      to: BigInt(to),
      selector: BigInt(selector),
      calldata: calldata.map(BigInt),
    }));
    const fields = {
      sender: BigInt(user),
      calldata: encodeCalls(list),
      nonce,
      tip: 0n,
      resourceBounds: NO_FEE.bounds,
      paymasterData: [],
      accountDeploymentData: [],
      nonceDataAvailabilityMode: 0,
      feeDataAvailabilityMode: 0,
    } as const;
    const estimate = await this.#chain.estimate(rawInvoke(fields, []));
    if (!estimate.ok) {
      throw new Snip29Error('TRANSACTION_EXECUTION_ERROR', { execution_error: estimate.reason });
    }
  }

  async #signedCalls(invoke: NonNullable<Request['transaction']['invoke']>, verify: boolean): Promise<Call[]> {
    const { user_address, typed_data, signature } = invoke;
    const message = need(typed_data).message as Record<string, unknown>;
    const signed = [...need(signature)];
    if (verify && !(await this.#provider.verifyMessageInStarknet(need(typed_data), signed, user_address))) {
      throw new Snip29Error('INVALID_SIGNATURE');
    }
    const calls = message.Calls as readonly { To: string; Selector: string; Calldata: string[] }[];
    return outsideExecution.buildExecuteFromOutsideCall({
      outsideExecution: {
        caller: message.Caller as string,
        nonce: message.Nonce as string,
        execute_after: message['Execute After'] as BigNumberish,
        execute_before: message['Execute Before'] as BigNumberish,
        calls: calls.map(({ To, Selector, Calldata }) => ({ to: To, selector: Selector, calldata: Calldata })),
      },
      signature: signed,
      signerAddress: user_address,
      version: OutsideExecutionVersion.V2,
    });
  }

  async #send(calls: Call[]): Promise<string> {
    try {
      const nonce = await this.#provider.getNonceForAddress(this.#account.address, 'pre_confirmed');
      await this.#account.estimateInvokeFee(calls, { tip: 0n, nonce, blockIdentifier: 'pre_confirmed' });
      return (await this.#account.execute(calls, { ...AMPLE, nonce })).transaction_hash;
    } catch (error) {
      const { data } = error instanceof RpcError ? (error.baseError as { data?: unknown }) : { data: String(error) };
      throw new Snip29Error('TRANSACTION_EXECUTION_ERROR', data);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function deploy({ class_hash, salt, calldata }: WireDeployment): Call {
  const raw = CallData.compile([class_hash, salt, '0x0', calldata.length, ...calldata]);
  return { contractAddress: UDC, entrypoint: 'deploy_contract', calldata: raw };
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('A field is missing.');
  return value;
}

type Method = 'paymaster_buildTransaction' | 'paymaster_executeTransaction';

/** A fault of the next call of a method. */
export interface Fault {
  readonly method: Method;
  /** Answered in place of doing anything. */
  readonly instead?: { readonly status: number } | { readonly result: object } | RpcFailure | 'hang up';
  /** Executed, then answered differently. */
  readonly alter?: (result: never) => unknown;
  /** Executed, then answered with an error. */
  readonly deny?: RpcFailure;
  /** Executed, then the connection closes without an answer. */
  readonly loseAnswer?: true;
  readonly after?: Promise<void>;
}

export interface Snip29Server {
  readonly url: string;
  readonly calls: string[];
  /** Each applies once, in order. */
  order(fault: Fault): void;
  stop(): Promise<void>;
}

/** A SNIP-29 paymaster over HTTP that pays with an account of the sandbox. */
export async function startSnip29(options: Snip29Options): Promise<Snip29Server> {
  const paymaster = new Snip29Paymaster(options);
  const calls: string[] = [];
  const faults: Fault[] = [];
  const takeFault = (method: string): Fault | undefined => {
    const index = faults.findIndex((fault) => fault.method === method);
    return index < 0 ? undefined : faults.splice(index, 1)[0];
  };
  const server = createServer(async (incoming, response) => {
    const { id, method, params } = JSON.parse(await bodyOf(incoming)) as { id: number; method: string; params: never };
    calls.push(method);
    const fault = takeFault(method);
    const { instead } = fault ?? {};
    if (instead === 'hang up') return void response.destroy();
    if (instead && 'status' in instead) return void response.writeHead(instead.status).end('no');
    const key = incoming.headers['x-paymaster-api-key'];
    const answer = instead ? madeUp(instead) : await serve(paymaster, method, params, key?.toString());
    await fault?.after;
    if (fault?.loseAnswer) return void response.destroy();
    send(response, { jsonrpc: '2.0', id, ...altered(answer, fault) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, calls, order: (fault) => faults.push(fault), stop };
}

type RpcResult = { readonly result: unknown } | { readonly error: RpcFailure };

const madeUp = (instead: RpcFailure | { result: object }): RpcResult =>
  'result' in instead ? instead : { error: instead };

function altered(answer: RpcResult, fault: Fault | undefined): RpcResult {
  if (fault?.deny) return { error: fault.deny };
  return fault?.alter && 'result' in answer ? { result: fault.alter(answer.result as never) } : answer;
}

async function serve(paymaster: Snip29Paymaster, method: string, params: never, key?: string): Promise<RpcResult> {
  try {
    if (method === 'paymaster_isAvailable') return { result: true };
    if (method === 'paymaster_getSupportedTokens') return { result: paymaster.supportedTokens() };
    if (method === 'paymaster_buildTransaction') return { result: await paymaster.build(params, key) };
    if (method === 'paymaster_executeTransaction') return { result: await paymaster.execute(params, key) };
    return { error: methodNotFound };
  } catch (error) {
    if (error instanceof Snip29Error) return { error: error.failure };
    if (error instanceof TypeError || error instanceof SyntaxError) return { error: invalidParams };
    throw error;
  }
}

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
