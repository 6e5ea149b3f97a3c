import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { chainIds, invokeHash, sign, starkKey, TRANSACTION_VERSION, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../../testing/certificate.ts';
import { NO_FEE } from '../relayer/invoke.ts';
import { createRemoteSigner } from './crypto.ts';
import { startCrypto } from './pool.ts';

const [own, client, stranger] = [selfSigned('signer'), selfSigned('service'), selfSigned('stranger')];
const privateKey = 0x5ec2e7n;
const publicKey = starkKey(privateKey);
const crypto = startCrypto({ threads: 1 });
const fields = {
  version: TRANSACTION_VERSION,
  chainId: chainIds.SN_MAIN,
  sender: 1n,
  nonce: 2n,
  calldata: [3n],
  tip: 0n,
  resourceBounds: NO_FEE.bounds,
  paymasterData: [],
  accountDeploymentData: [],
  nonceDataAvailabilityMode: 0,
  feeDataAvailabilityMode: 0,
} as const;
const execution = { caller: 1n, nonce: 2n, executeAfter: 0n, executeBefore: 9n, calls: [] };

interface Asked {
  readonly publicKey: string;
  readonly kind: string;
  readonly hash: string;
}

let server: Server;
let url: string;
let answer: (asked: Asked) => { status?: number; text: string };
const asked: Asked[] = [];
const signed = ({ hash }: Asked, key = privateKey) => {
  const { r, s } = sign(BigInt(hash), key);
  return { text: JSON.stringify({ r: toHex(r), s: toHex(s) }) };
};

beforeAll(async () => {
  const tls = { cert: own.certificate, key: own.key, ca: client.certificate, requestCert: true };
  server = createServer({ ...tls, rejectUnauthorized: true }, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    asked.push(JSON.parse(body) as Asked);
    const { status = 200, text } = answer(JSON.parse(body) as Asked);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/sign`;
});
afterAll(async () => {
  await crypto.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const keyAs = (who = client, ca: string | undefined = own.certificate) =>
  createRemoteSigner({ url, ...who, ca }).keyOf(publicKey);
const unavailable = { code: 'chain_unavailable', status: 500 };

describe('a signer that holds the keys', () => {
  it('signs transactions and messages, and is told what they are', async () => {
    answer = (each) => signed(each);
    const transaction = await crypto.signInvoke(fields, keyAs());
    expect(transaction).toEqual(await crypto.signInvoke(fields, privateKey));
    expect(asked.at(-1)).toMatchObject({
      publicKey: toHex(publicKey),
      kind: 'transaction',
      hash: toHex(invokeHash(fields)),
      transaction: { sender: '0x1', nonce: '0x2', calldata: ['0x3'] },
    });
    const message = await crypto.signExecution(execution, 7n, chainIds.SN_MAIN, keyAs());
    expect(message).toEqual(await crypto.signExecution(execution, 7n, chainIds.SN_MAIN, privateKey));
    expect(asked.at(-1)).toMatchObject({ kind: 'execution', account: '0x7', chainId: toHex(chainIds.SN_MAIN) });
  });

  it('is not believed: a signature of another key or for another hash is refused', async () => {
    answer = (each) => signed(each, privateKey + 1n);
    await expect(crypto.signInvoke(fields, keyAs())).rejects.toThrow('not of its key');
    answer = () => signed({ publicKey: '', kind: '', hash: '0x1' });
    await expect(crypto.signInvoke(fields, keyAs())).rejects.toThrow('not of its key');
  });

  it.each([
    ['refuses', { status: 403, text: '{"r":"0x1","s":"0x1"}' }],
    ['answers nonsense', { text: 'no JSON' }],
    ['answers no signature', { text: '{"r":"0x1"}' }],
    ['answers too much', { text: ' '.repeat(10_000) }],
  ])('that %s makes the request one to repeat', async (_, given) => {
    answer = () => given;
    await expect(keyAs().sign({ kind: 'check', hash: 1n })).rejects.toMatchObject(unavailable);
  });

  it('lets in only the certificate it knows, and is one that the service knows', async () => {
    answer = (each) => signed(each);
    const before = asked.length;
    await expect(keyAs(stranger).sign({ kind: 'check', hash: 1n })).rejects.toMatchObject(unavailable);
    await expect(keyAs(client, stranger.certificate).sign({ kind: 'check', hash: 1n })).rejects.toMatchObject(
      unavailable,
    );
    expect(asked).toHaveLength(before);
    await expect(keyAs().sign({ kind: 'check', hash: 1n })).resolves.toEqual(sign(1n, privateKey));
  });
});
