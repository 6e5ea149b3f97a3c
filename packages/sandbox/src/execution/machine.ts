import { type Call, contractAddress, selector, shortString } from '@svc/starknet';
import { Panic } from '../contracts/codec.ts';
import type { CallResult, ContractFunction, Deployment, Frame, TransactionInfo } from '../contracts/contract.ts';
import { contractOf } from '../contracts/genesis.ts';
import { type Failure, padHex } from './failure.ts';
import type { Work } from './fees.ts';
import type { ExecutionState } from './state.ts';
import type { BlockContext, Event, Invocation } from './types.ts';

/** As on a live network. */
export const MAX_DEPTH = 50;
/** A thousand transfers take the executing thread a good part of a second. */
export const MAX_CALLS = 1_000;

const ENTRYPOINT_FAILED = shortString('ENTRYPOINT_FAILED');
const ENTRYPOINT_NOT_FOUND = shortString('ENTRYPOINT_NOT_FOUND');
const INVALID_ARGUMENT = shortString('Invalid argument');
const CONSTRUCTOR = selector('constructor');
const EXECUTE = selector('__execute__');

/** Cannot be caught by a contract; ends the transaction. */
class FatalError extends Error {
  readonly inner: Failure | undefined;

  constructor(text: string, inner?: Failure) {
    super(text);
    this.inner = inner;
  }
}

class PropagatedPanic extends Panic {
  readonly inner: Extract<Failure, { type: 'PANIC' }>;

  constructor(inner: Extract<Failure, { type: 'PANIC' }>) {
    super([...inner.felts, ENTRYPOINT_FAILED]);
    this.inner = inner;
  }
}

interface Request {
  readonly callType: Invocation['callType'];
  readonly address: bigint;
  readonly caller: bigint;
  readonly classHash: bigint;
  readonly selector: bigint;
  readonly calldata: readonly bigint[];
}

export type Outcome =
  | { readonly ok: true; readonly result: bigint[]; readonly invocation: Invocation }
  | { readonly ok: false; readonly failure: Failure; readonly invocation: Invocation };

interface Running {
  readonly request: Request;
  readonly depth: number;
  readonly calls: Invocation[];
  readonly events: { order: number; keys: bigint[]; data: bigint[] }[];
}

/** Runs contracts, one machine per transaction. A failing call leaves no trace in state and events. */
export class Machine {
  readonly state: ExecutionState;
  readonly events: Event[] = [];
  work: Work = { calls: 0, reads: 0, writes: 0 };
  readonly #block: BlockContext;
  readonly #transaction: TransactionInfo;
  #calls = 0;

  constructor(state: ExecutionState, block: BlockContext, transaction: TransactionInfo) {
    this.state = state;
    this.#block = block;
    this.#transaction = transaction;
  }

  async call({ to, selector, calldata }: Call, caller = 0n): Promise<Outcome> {
    this.#calls = 0;
    const classHash = await this.state.classHashAt(to);
    return this.#run({ callType: 'CALL', address: to, caller, classHash, selector, calldata }, 0);
  }

  deploy(address: bigint, classHash: bigint, calldata: readonly bigint[]): Promise<Outcome> {
    this.#calls = 0;
    return this.#run(deployment(address, 0n, classHash, calldata), 0);
  }

  /** Work stays counted. */
  rollback(mark: { readonly state: number; readonly events: number }): void {
    this.state.rollback(mark.state);
    this.events.length = mark.events;
  }

  mark(): { readonly state: number; readonly events: number } {
    return { state: this.state.mark(), events: this.events.length };
  }

  async #run(request: Request, depth: number): Promise<Outcome> {
    const mark = this.mark();
    const running: Running = { request, depth, calls: [], events: [] };
    try {
      const fn = await this.#enter(request, depth);
      const result = fn ? await fn.run(this.#frame(running), request.calldata) : [];
      return { ok: true, result, invocation: invocation(running, result, false) };
    } catch (error) {
      const failure = failureOf(request, error);
      this.rollback(mark);
      const result = failure.type === 'PANIC' ? failure.felts : [];
      return { ok: false, failure, invocation: invocation({ ...running, events: [] }, result, true) };
    }
  }

  async #enter(request: Request, depth: number): Promise<ContractFunction | undefined> {
    const { callType, address, classHash } = request;
    this.#calls += 1;
    this.work.calls += 1;
    if (depth > MAX_DEPTH) throw new FatalError('Recursion depth exceeded.');
    if (this.#calls > MAX_CALLS) throw new FatalError(`A transaction makes at most ${MAX_CALLS} calls here.`);
    if (classHash === 0n && callType === 'CALL') {
      throw new FatalError(`Requested contract address ${padHex(address)} is not deployed.`);
    }
    await this.#requireClass(classHash);
    const contract = contractOf(classHash);
    if (!contract) {
      throw new FatalError(`Class ${padHex(classHash)} is declared, but the sandbox only runs contracts of its own.`);
    }
    if (callType === 'DEPLOY') return this.#place(request, contract.construct);
    const fn = contract.entrypoints.get(request.selector);
    if (!fn) throw new Panic([ENTRYPOINT_NOT_FOUND]);
    return fn;
  }

  async #requireClass(classHash: bigint): Promise<void> {
    if (contractOf(classHash) || (await this.state.isDeclared(classHash))) return;
    throw new FatalError(`Class with hash ${padHex(classHash)} is not declared.`);
  }

  async #place({ address, classHash, calldata }: Request, construct: ContractFunction | undefined) {
    if ((await this.state.classHashAt(address)) !== 0n) {
      throw new FatalError(`Requested contract address ${padHex(address)} is unavailable for deployment.`);
    }
    if (!construct && calldata.length > 0) {
      throw new FatalError('Cannot pass calldata to a contract with no constructor.');
    }
    await this.state.setClassHash(address, classHash);
    return construct;
  }

  async #callFrom(running: Running, request: Request): Promise<CallResult & { readonly failure?: PropagatedPanic }> {
    // The protocol alone starts a transaction: the system call refuses before the callee is asked.
    if (request.callType === 'CALL' && request.selector === EXECUTE) return { ok: false, felts: [INVALID_ARGUMENT] };
    const outcome = await this.#run(request, running.depth + 1);
    running.calls.push(outcome.invocation);
    if (outcome.ok) return { ok: true, result: outcome.result };
    const { failure } = outcome;
    if (failure.type === 'FATAL') throw new FatalError(failure.text, failure);
    const panic = new PropagatedPanic(failure);
    return { ok: false, felts: [...panic.felts], failure: panic };
  }

  async #mustCallFrom(running: Running, request: Request): Promise<bigint[]> {
    const outcome = await this.#callFrom(running, request);
    if (outcome.ok) return outcome.result;
    throw outcome.failure ?? new Panic(outcome.felts);
  }

  async #foresee(calls: readonly Call[]): Promise<void> {
    if (calls.length < 2) return;
    const alike = Object.groupBy(calls.slice(0, MAX_CALLS), ({ to, selector }) => `${to} ${selector}`);
    const load = async (some: readonly Call[] = []): Promise<void> => {
      const [first] = some;
      if (!first) return;
      const { to, selector } = first;
      const fn = contractOf(await this.state.classHashAt(to))?.entrypoints.get(selector);
      const cells = fn?.foresee?.(some.map(({ calldata }) => calldata)) ?? [];
      await Promise.all(cells.map((cell) => this.state.storageAt(to, cell)));
    };
    await Promise.all(Object.values(alike).map(load));
  }

  #frame(running: Running): Frame {
    const { address, caller } = running.request;
    const { state, work } = this;
    const callOf = async ({ to, selector, calldata }: Call): Promise<Request> => {
      const classHash = await state.classHashAt(to);
      return { callType: 'CALL', address: to, caller: address, classHash, selector, calldata };
    };
    return {
      address,
      caller,
      block: this.#block,
      transaction: this.#transaction,
      read(key) {
        work.reads += 1;
        return state.storageAt(address, key);
      },
      write(key, value) {
        work.writes += 1;
        return state.setStorage(address, key, value);
      },
      foresee: (calls) => this.#foresee(calls),
      emit: (keys, data) => {
        running.events.push({ order: this.events.length, keys, data });
        this.events.push({ from: address, keys, data });
      },
      call: async (call) => this.#mustCallFrom(running, await callOf(call)),
      tryCall: async (call) => this.#callFrom(running, await callOf(call)),
      libraryCall: (classHash, selector, calldata) =>
        this.#mustCallFrom(running, { callType: 'LIBRARY_CALL', address, caller, classHash, selector, calldata }),
      deploy: async ({ classHash, salt, calldata, fromZero }: Deployment) => {
        const deployer = fromZero ? 0n : address;
        const placed = contractAddress({ salt, classHash, constructorCalldata: calldata, deployer });
        await this.#mustCallFrom(running, deployment(placed, address, classHash, calldata));
        return placed;
      },
      replaceClass: async (classHash) => {
        await this.#requireClass(classHash);
        await state.setClassHash(address, classHash);
      },
    };
  }
}

function deployment(address: bigint, caller: bigint, classHash: bigint, calldata: readonly bigint[]): Request {
  return { callType: 'DEPLOY', address, caller, classHash, selector: CONSTRUCTOR, calldata };
}

/** Any other error is a defect, not a contract's outcome. */
function failureOf({ callType, address, classHash, selector }: Request, error: unknown): Failure {
  const kind = callType === 'DEPLOY' ? 'CONSTRUCTOR' : callType;
  const frame = { kind, address, classHash, selector } as const;
  if (error instanceof FatalError) {
    return { type: 'FATAL', frames: [frame, ...(error.inner?.frames ?? [])], text: error.message };
  }
  if (!(error instanceof Panic)) throw error;
  const inner = error instanceof PropagatedPanic ? error.inner : undefined;
  return {
    type: 'PANIC',
    frames: [frame, ...(inner?.frames ?? [])],
    felts: error.felts,
    reason: inner?.reason ?? error.felts,
  };
}

function invocation({ request, calls, events }: Running, result: readonly bigint[], failed: boolean): Invocation {
  const entryPointType = request.callType === 'DEPLOY' ? 'CONSTRUCTOR' : 'EXTERNAL';
  return { ...request, entryPointType, result, failed, calls, events };
}
