import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { accountDeployment, classes, toHex } from '@svc/starknet';
import { Account, type CompiledSierra, logger, RpcProvider } from 'starknet';
import { RpcStarknetChain } from '../../packages/server/src/chains/starknet/rpc-chain.ts';
import type { SetupAccount } from './accounts.ts';

const COMPILED = path.resolve(import.meta.dirname, '../../contracts/compiled');

/** The hashes of the compiled form are those of Starknet 0.14 (Blake2s). */
const declarable = [
  { name: 'wallet', classHash: classes.svc, file: 'svc_account.json', casm: 'casm-hash.txt' },
  { name: 'treasury', classHash: classes.treasury, file: 'svc_treasury.json', casm: 'treasury-casm-hash.txt' },
] as const;

export type DeclarableClass = (typeof declarable)[number];

const POLL_MS = 1_000;
/** A block of a live network takes seconds; a busy one keeps a transaction for minutes. */
const INCLUSION_MS = 15 * 60_000;

/** The network as the setup needs it: reads by the service's own code, transactions by starknet.js. */
export class SetupChain {
  readonly chain: RpcStarknetChain;
  readonly #provider: RpcProvider;
  readonly #state: string;

  constructor(options: { readonly chainId: bigint; readonly urls: readonly string[]; readonly state: string }) {
    logger.setLogLevel('ERROR');
    this.chain = new RpcStarknetChain({ chainId: options.chainId, urls: options.urls });
    this.#provider = new RpcProvider({ nodeUrl: options.urls[0] ?? '', blockIdentifier: 'pre_confirmed' });
    this.#state = options.state;
  }

  async isDeclared(classHash: bigint): Promise<boolean> {
    return (await this.chain.classEntrypoints(classHash)) !== undefined;
  }

  /** SVC where it is declared, else READY, which public networks have. */
  async accountClass(): Promise<bigint | undefined> {
    for (const classHash of [classes.svc, classes.ready]) if (await this.isDeclared(classHash)) return classHash;
    return undefined;
  }

  async missingClasses(wallet: bigint): Promise<readonly DeclarableClass[]> {
    const wanted = declarable.filter(({ name, classHash }) => name !== 'wallet' || classHash === wallet);
    const found = await Promise.all(wanted.map(({ classHash }) => this.isDeclared(classHash)));
    return wanted.filter((_, index) => !found[index]);
  }

  async isDeployed({ address }: Pick<SetupAccount, 'address'>): Promise<boolean> {
    return (await this.chain.classHashAt(address)) !== undefined;
  }

  /** The network takes the first transaction of an account once, so that repeating it is safe. */
  async deploy(account: SetupAccount, publicKey: bigint, classHash: bigint): Promise<void> {
    const { constructorCalldata, salt } = accountDeployment(classHash, publicKey);
    const sender = this.#account(account);
    const deployment = {
      classHash: toHex(classHash),
      constructorCalldata: constructorCalldata.map(toHex),
      addressSalt: toHex(salt),
      contractAddress: toHex(account.address),
    };
    const failure = await sender.deployAccount(deployment, { tip: 0n }).then(
      () => undefined,
      (error: unknown) => error,
    );
    await this.#until(() => this.isDeployed(account), failure, `${toHex(account.address)} is not on the chain.`);
  }

  /** Its nonce is stored before it is sent: after a kill the same nonce is used, so that one of both counts. */
  async declare(account: SetupAccount, { name, classHash, file, casm }: DeclarableClass): Promise<void> {
    const nonce = await this.#declareNonce(account, classHash);
    const contract = JSON.parse(readFileSync(path.join(COMPILED, file), 'utf8')) as CompiledSierra;
    const compiledClassHash = readFileSync(path.join(COMPILED, casm), 'utf8').trim();
    const failure = await this.#account(account)
      .declare({ contract, compiledClassHash }, { tip: 0n, nonce })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    await this.#until(() => this.isDeclared(classHash), failure, `The ${name} class is not on the chain.`);
  }

  async #declareNonce({ address }: SetupAccount, classHash: bigint): Promise<bigint> {
    const stored = readState(this.#state);
    const key = `${toHex(address)} ${toHex(classHash)}`;
    const next = (await this.chain.nonceAt(address)) ?? 0n;
    const known = stored.declareNonces?.[key];
    if (known !== undefined && BigInt(known) >= next) return BigInt(known);
    const declareNonces = { ...stored.declareNonces, [key]: String(next) };
    writeFileSync(this.#state, `${JSON.stringify({ ...stored, declareNonces }, undefined, 2)}\n`, { flush: true });
    return next;
  }

  #account({ address, privateKey }: SetupAccount): Account {
    if (privateKey === undefined) throw new Error(`The key of ${toHex(address)} is not known here.`);
    return new Account({ provider: this.#provider, address: toHex(address), signer: toHex(privateKey) });
  }

  /** A refusal may be about a transaction of an earlier run that is under way. */
  async #until(isDone: () => Promise<boolean>, failure: unknown, problem: string): Promise<void> {
    const patience = failure === undefined ? INCLUSION_MS : isUnderWay(failure) ? INCLUSION_MS : 0;
    for (const end = Date.now() + patience; ; await pause(POLL_MS)) {
      if (await isDone()) return;
      if (Date.now() >= end) break;
    }
    const reason = failure instanceof Error ? failure.message.split('\n').slice(0, 3).join(' ').slice(0, 500) : '';
    throw new Error(`${problem} ${reason}`, { cause: failure });
  }
}

const isUnderWay = (failure: unknown): boolean =>
  failure instanceof Error && /duplicate|already|nonce/i.test(failure.message);

interface State {
  readonly declareNonces?: Readonly<Record<string, string>>;
}

function readState(file: string): State {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as State;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
