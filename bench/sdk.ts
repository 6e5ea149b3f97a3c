// How long an app waits for a wallet: `createWallet` against the running service, one after the other. With a secret
// that needs no stretching beside the same two requests by hand; with a PIN; and the stretching beside native Argon2id
// of the same cost. npm run bench:sdk
import { argon2Sync, randomBytes } from 'node:crypto';
import { type Client, createClient, createWallet } from '@svc/sdk';
import { DEFAULT_STRETCHING, stretch } from '../packages/sdk/src/keys/cipher.ts';
import { FakeAuthenticator } from '../packages/sdk/testing/fake-authenticator.ts';
import { App, Owner } from '../tests/support/app.ts';
import { startServer } from '../tests/support/server.ts';
import { median } from './support/median.ts';

const WARM_UP = 20;
const WALLETS = 100;
const WITH_PIN = 20;
const STRETCHES = 15;

const service = await startServer({ env: { RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' } });
const { baseUrl, publicKey, secretKey } = service.credentials;
const waits = new Map<string, number>();
const client = createClient({ baseUrl, publicKey, secretKey, fetch: timedFetch });
const app = new App(service);
try {
  for (let made = 0; made < WARM_UP; made++)
    await Promise.all([byLibrary(client, newSecret(), withPasskey()), byHand()]);
  await compareCreations();
  await withPin();
  await compareStretching();
} finally {
  await service.stop();
}

/** What a passkey gives: 32 random bytes, which need no stretching. */
function newSecret(): string {
  return `prf1.${randomBytes(32).toString('base64url')}`;
}

/** Such a secret is taken as the backup of a passkey alone; an authenticator in memory takes no time to speak of. */
function withPasskey() {
  return { usePasskey: true, passkey: { credentials: new FakeAuthenticator() } };
}

async function byLibrary(client: Client, encryptKey: string, passkey: object = {}): Promise<number> {
  const startedAt = performance.now();
  await createWallet(client, {
    encryptKey,
    externalUserId: `user ${randomBytes(8).toString('hex')}`,
    chain: 'STARKNET',
    ...passkey,
  });
  return performance.now() - startedAt;
}

async function byHand(): Promise<number> {
  const startedAt = performance.now();
  await app.createWallet(new Owner(), `user ${randomBytes(8).toString('hex')}`);
  return performance.now() - startedAt;
}

async function timedFetch(url: string, init?: RequestInit): Promise<Response> {
  const startedAt = performance.now();
  const response = await fetch(url, init);
  const body = await response.arrayBuffer();
  const { pathname } = new URL(url);
  waits.set(pathname, (waits.get(pathname) ?? 0) + performance.now() - startedAt);
  return new Response(body, { status: response.status, headers: response.headers });
}

async function compareCreations(): Promise<void> {
  const [ours, bare, own] = [[] as number[], [] as number[], [] as number[]];
  const byPath = new Map<string, number[]>();
  for (let round = 0; round < WALLETS; round++) {
    bare.push(await byHand());
    waits.clear();
    const ms = await byLibrary(client, newSecret(), withPasskey());
    ours.push(ms);
    own.push(ms - [...waits.values()].reduce((sum, wait) => sum + wait, 0));
    for (const [path, wait] of waits) byPath.set(path, [...(byPath.get(path) ?? []), wait]);
  }
  const ratio = median(ours.map((ms, round) => ms / (bare[round] ?? Number.NaN)));
  console.log(
    `createWallet without stretching: ${show(ours)}; the same requests by hand: ${show(bare)}; ratio ${ratio.toFixed(2)}`,
  );
  for (const [path, list] of byPath) console.log(`  waiting for ${path}: ${show(list)}`);
  console.log(`  the library itself (keys, address, checks, signature, encryption): ${show(own)}`);
}

async function withPin(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < WITH_PIN; round++) times.push(await byLibrary(client, '481516'));
  console.log(`createWallet with a PIN (stretched twice: to seal, and to prove that it opens): ${show(times)}`);
}

async function compareStretching(): Promise<void> {
  const { memoryKib, passes, lanes } = DEFAULT_STRETCHING;
  const [ours, native] = [[] as number[], [] as number[]];
  for (let round = 0; round < STRETCHES; round++) {
    const [secret, salt] = [new TextEncoder().encode('481516'), new Uint8Array(randomBytes(16))];
    let startedAt = performance.now();
    const stretched = await stretch(secret, salt, DEFAULT_STRETCHING);
    ours.push(performance.now() - startedAt);
    startedAt = performance.now();
    const key = argon2Sync('argon2id', {
      message: secret,
      nonce: salt,
      parallelism: lanes,
      memory: memoryKib,
      passes,
      tagLength: 32,
    });
    native.push(performance.now() - startedAt);
    if (!key.equals(stretched)) throw new Error('The two do not derive the same key.');
  }
  const ratio = median(ours) / median(native);
  console.log(
    `stretching (${memoryKib / 1024} MiB, ${passes} passes): ${show(ours)}; native: ${show(native)}; ratio ${ratio.toFixed(2)}`,
  );
}

function show(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  return `${median(times).toFixed(1)} ms (${at(0.1)} - ${at(0.9)})`;
}
