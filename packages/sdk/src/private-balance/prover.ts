import {
  type CipherBalance,
  type CurvePoint,
  decryptBalance,
  encodeFund,
  encodeRollover,
  encodeTransfer,
  encodeWithdraw,
  encryptHint,
  type ProofContext,
  proveFund,
  proveRollover,
  proveTransfer,
  proveWithdraw,
  publicPoint,
} from '@svc/starknet/private-balance';
import type { Client, ProofWorker } from '../client/client.ts';
import { SvcError } from '../client/errors.ts';

export interface AmountToDecrypt {
  readonly cipher: CipherBalance;
  readonly privateKey: bigint;
  readonly bits: number;
  /** If it is right, it saves a search of some seconds. */
  readonly hint: bigint | undefined;
}

/** Undefined if the amount has more bits than the pool takes. */
async function decrypt({ cipher, privateKey, bits, hint }: AmountToDecrypt): Promise<bigint | undefined> {
  return decryptBalance(cipher, privateKey, bits, hint);
}

export type Operation =
  | { readonly kind: 'shield'; readonly amounts: readonly bigint[] }
  | { readonly kind: 'unshield'; readonly amount: bigint; readonly to: bigint }
  | { readonly kind: 'transfer'; readonly amount: bigint; readonly to: CurvePoint }
  | { readonly kind: 'rollover'; readonly pending: bigint };

export interface OperationToProve {
  readonly context: ProofContext;
  /** In clear. */
  readonly balance: bigint;
  readonly privateKey: bigint;
  readonly operation: Operation;
}

/** The calldata of each call of the pool. */
async function prove({ context, privateKey, operation, balance }: OperationToProve): Promise<bigint[][]> {
  const { pool, nonce } = context;
  const publicKey = publicPoint(privateKey);
  /** Made with the nonce that the account has afterwards. */
  const hintOf = (amount: bigint, done = 1n) =>
    encryptHint({ privateKey, publicKey, pool, nonce: nonce + done }, amount);
  switch (operation.kind) {
    case 'shield':
      return Promise.all(
        operation.amounts.map(async (amount, index) => {
          const done = BigInt(index);
          const total = operation.amounts.slice(0, index + 1).reduce((sum, one) => sum + one, balance);
          const fund = proveFund({ ...context, nonce: nonce + done }, privateKey, amount);
          return encodeFund({ ...fund, hint: await hintOf(total, done + 1n) });
        }),
      );
    case 'unshield': {
      const { amount, to } = operation;
      const withdraw = proveWithdraw(context, privateKey, { balance, amount, to });
      return [encodeWithdraw({ ...withdraw, hint: await hintOf(balance - amount) })];
    }
    case 'transfer': {
      const { amount, to } = operation;
      const transfer = proveTransfer(context, privateKey, { balance, amount, to });
      const hintTransfer = await encryptHint({ privateKey, publicKey: to, pool, nonce }, amount);
      return [encodeTransfer({ ...transfer, hintTransfer, hintLeftover: await hintOf(balance - amount) })];
    }
    case 'rollover': {
      const hint = await hintOf(balance + operation.pending);
      return [encodeRollover({ ...proveRollover(context, privateKey), hint })];
    }
  }
}

interface Inputs {
  decrypt: AmountToDecrypt;
  prove: OperationToProve;
}

interface Results {
  decrypt: bigint | undefined;
  prove: bigint[][];
}

type JobName = keyof Inputs;

const jobs: { readonly [Name in JobName]: (input: Inputs[Name]) => Promise<Results[Name]> } = { decrypt, prove };

/** What a worker gets; it answers through the port. */
interface JobMessage<Name extends JobName> {
  readonly name: Name;
  readonly input: Inputs[Name];
  readonly port: MessagePort;
}

type JobAnswer<Name extends JobName> = { readonly result: Results[Name] } | { readonly failure: string };

/** In a worker: does a job and answers. */
export async function answerJob<Name extends JobName>({ name, input, port }: JobMessage<Name>): Promise<void> {
  const answer: JobAnswer<Name> = await jobs[name](input).then(
    (result) => ({ result }),
    (error: unknown) => ({ failure: error instanceof Error ? error.message : String(error) }),
  );
  port.postMessage(answer);
  port.close();
}

/** Does the arithmetic of one operation, in a worker where the app has one. */
export class Prover {
  readonly #start: (() => ProofWorker) | undefined;
  #worker: ProofWorker | undefined;
  #failed = false;
  readonly #onFailure = new Set<() => void>();

  constructor({ proofWorker }: Pick<Client, 'proofWorker'>) {
    this.#start = proofWorker;
  }

  /** Without a proof for each bit it takes milliseconds, less than a worker's start. */
  prove(input: OperationToProve): Promise<bigint[][]> {
    const { kind } = input.operation;
    return kind === 'shield' || kind === 'rollover' ? prove(input) : this.run('prove', input);
  }

  async run<Name extends JobName>(name: Name, input: Inputs[Name]): Promise<Results[Name]> {
    const worker = this.#failed ? undefined : this.#open();
    const answer = worker && (await this.#ask(worker, name, input));
    // Without a worker, or with one that could not be loaded.
    if (!answer) return jobs[name](input);
    if ('failure' in answer) throw new SvcError('proof_failed', answer.failure);
    return answer.result;
  }

  #open(): ProofWorker | undefined {
    if (this.#worker) return this.#worker;
    try {
      this.#worker = this.#start?.();
    } catch {
      // A page may not start workers: this thread can do it too.
      this.#failed = true;
    }
    const fail = () => {
      this.#failed = true;
      for (const one of this.#onFailure) one();
    };
    this.#worker?.addEventListener?.('error', fail);
    this.#worker?.on?.('error', fail);
    return this.#worker;
  }

  #ask<Name extends JobName>(
    worker: ProofWorker,
    name: Name,
    input: Inputs[Name],
  ): Promise<JobAnswer<Name> | undefined> {
    const { port1, port2 } = new MessageChannel();
    return new Promise<JobAnswer<Name> | undefined>((resolve) => {
      this.#onFailure.add(() => resolve(undefined));
      port1.onmessage = ({ data }: { data: JobAnswer<Name> }) => resolve(data);
      worker.postMessage({ name, input, port: port2 }, [port2] as never[]);
    }).finally(() => port1.close());
  }

  end(): void {
    this.#worker?.terminate();
  }
}
