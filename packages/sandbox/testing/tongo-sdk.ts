import { mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

/** The part of `@fatsolutions/tongo-sdk` that the tests call. Its own types need its own TypeScript settings. */
export interface TongoAccount {
  readonly publicKey: { readonly x: bigint; readonly y: bigint };
  state(): Promise<{ balance: bigint; pending: bigint; nonce: bigint }>;
  fund(details: { amount: bigint; sender: string }): Promise<TongoOperation>;
  transfer(details: { amount: bigint; to: TongoAccount['publicKey']; sender: string }): Promise<TongoOperation>;
  rollover(details: { sender: string }): Promise<TongoOperation>;
  withdraw(details: { amount: bigint; to: string; sender: string }): Promise<TongoOperation>;
  ragequit(details: { to: string; sender: string }): Promise<TongoOperation>;
  getTxHistory(initialBlock: number): Promise<{ type: string; amount: bigint }[]>;
}

export interface TongoCall {
  readonly contractAddress: string;
  readonly entrypoint: string;
  readonly calldata?: string[];
}

interface TongoOperation {
  readonly approve?: TongoCall;
  toCalldata(): TongoCall;
}

export interface TongoSdk {
  readonly Account: new (privateKey: bigint, contract: string, provider: unknown) => TongoAccount;
  /** The package's own starknet.js. */
  readonly starknet: { readonly RpcProvider: new (options: { nodeUrl: string }) => unknown };
}

/** Node cannot load the package as published: its compiled files ask for sources that exist as TypeScript alone. */
export async function loadTongoSdk(): Promise<TongoSdk> {
  const source = path.join(path.dirname(createRequire(import.meta.url).resolve('@fatsolutions/tongo-sdk')), '../src');
  const folder = await mkdtemp(path.join(tmpdir(), 'tongo-sdk-'));
  const entry = path.join(folder, 'entry.ts');
  const starknet = createRequire(path.join(source, 'index.ts')).resolve('starknet');
  const lines = [`export { Account } from '${source}/account/account.ts';`, `export * as starknet from '${starknet}';`];
  await writeFile(entry, lines.join('\n'));
  await build({
    configFile: false,
    logLevel: 'error',
    root: folder,
    build: { ssr: entry, outDir: path.join(folder, 'out'), minify: false, target: 'esnext' },
    ssr: { noExternal: true },
  });
  return import(pathToFileURL(path.join(folder, 'out/entry.mjs')).href) as Promise<TongoSdk>;
}
