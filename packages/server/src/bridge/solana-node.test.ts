import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { parseSolanaAddress, type SolanaAddress } from '@svc/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { solanaAddressOf, tokenAccountOf } from './bridge.ts';
import { solanaGenesis } from './cctp-message.ts';
import { type ClaimedMint, SolanaNodes } from './solana-node.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const TRANSMITTER = 'CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC';
const USDC = solana('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const OTHER_MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const OWNER = solana('9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM');
const OTHER_OWNER = solana('FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B');
const NONCE = 'ab'.repeat(32);
const SIGNATURE = base58(Buffer.alloc(64, 7));
const CLAIMED: ClaimedMint = {
  signature: SIGNATURE,
  nonce: `0x${NONCE}`,
  owner: OWNER,
  mint: USDC,
  amount: 5_000_000n,
};

function solana(text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (!address.ok) throw new Error(address.reason);
  return address.value;
}

function base58(bytes: Uint8Array): string {
  let text = '';
  for (let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n) {
    text = `${ALPHABET[Number(rest % 58n)]}${text}`;
  }
  return text;
}

interface Shown {
  owner?: SolanaAddress;
  mint?: string;
  before?: string;
  after?: string;
  nonce?: string;
  program?: string;
  signature?: string;
  err?: unknown;
  inner?: boolean;
}

/** As a live node shows a mint. */
function transaction(changes: Shown = {}) {
  const { owner = OWNER, mint = USDC, before, after = '5000000', nonce = NONCE, program = TRANSMITTER } = changes;
  const { signature = SIGNATURE, err = null, inner = false } = changes;
  const account = solanaAddressOf(tokenAccountOf(owner, USDC));
  const balance = (amount: string) => ({ accountIndex: 1, mint, owner, uiTokenAmount: { amount, decimals: 6 } });
  const instruction = { programId: program, accounts: [], data: base58(Buffer.from(`0102${nonce}03`, 'hex')) };
  return {
    slot: 300_000_000,
    blockTime: 1_800_000_000,
    version: 0,
    meta: {
      err,
      fee: 5_000,
      innerInstructions: inner ? [{ index: 0, instructions: [instruction] }] : [],
      preTokenBalances: before === undefined ? [] : [balance(before)],
      postTokenBalances: [balance(after)],
    },
    transaction: {
      signatures: [signature],
      message: {
        accountKeys: [{ pubkey: OWNER }, { pubkey: account }].map((key) => ({ ...key, signer: false, writable: true })),
        instructions: inner ? [] : [instruction],
      },
    },
  };
}

class FakeNode {
  genesis = solanaGenesis[USDC];
  result: unknown = transaction();
  status = 200;
  readonly requests: { method: string; params: unknown[] }[] = [];
  readonly #server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: string;
      method: string;
      params: unknown[];
    };
    this.requests.push({ method, params });
    const result = method === 'getGenesisHash' ? this.genesis : this.result;
    response.writeHead(this.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let [node, second] = [new FakeNode(), new FakeNode()];
let nodes: SolanaNodes;
let urls: string[];
beforeEach(async () => {
  [node, second] = [new FakeNode(), new FakeNode()];
  urls = [await node.start(), await second.start()];
  nodes = only(urls[0]);
});
afterEach(() => Promise.all([node.stop(), second.stop()]));

const only = (...some: (string | undefined)[]) =>
  new SolanaNodes({ urls: some.filter((url) => url !== undefined), genesis: solanaGenesis[USDC] });

async function deadUrl(): Promise<string> {
  const server = createTcp();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

describe('a mint on Solana', () => {
  it.each([
    ['by an instruction of the bridge', {}],
    ['by an instruction inside another program', { inner: true }],
    ['into an account that holds something already', { before: '7', after: '5000007' }],
    ['of more than the amount', { after: '5000326' }],
  ])('is proven %s', async (_, changes) => {
    node.result = transaction(changes);
    expect(await nodes.checkMint(CLAIMED)).toEqual({ credited: true });
    expect(node.requests.at(-1)).toEqual({
      method: 'getTransaction',
      params: [SIGNATURE, { commitment: 'confirmed', encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 }],
    });
  });

  it.each([
    ['is unknown or not confirmed yet', null, 'Solana does not show it as confirmed'],
    ['failed', transaction({ err: { InstructionError: [0, { Custom: 6_013 }] } }), 'it failed on Solana'],
    ['credits another wallet', transaction({ owner: OTHER_OWNER }), 'it credits the wallet with 0 of 5000000'],
    ['credits another token', transaction({ mint: OTHER_MINT }), 'it credits the wallet with 0 of 5000000'],
    ['credits less', transaction({ after: '4999999' }), 'it credits the wallet with 4999999 of 5000000'],
    ['credits nothing', transaction({ before: '5000000' }), 'it credits the wallet with 0 of 5000000'],
    ['belongs to another burn', transaction({ nonce: 'cd'.repeat(32) }), 'it does not carry the message'],
    ['is not of the bridge', transaction({ program: OTHER_MINT }), 'it does not carry the message'],
  ])('is not proven by a transaction that %s', async (_, result, reason) => {
    node.result = result;
    expect(await nodes.checkMint(CLAIMED)).toEqual({ credited: false, reason: expect.stringContaining(reason) });
  });

  it('is not proven by what is no signature, and no node is asked', async () => {
    const answer = await nodes.checkMint({ ...CLAIMED, signature: 'nonsense' });
    expect(answer).toMatchObject({ credited: false });
    expect(node.requests).toEqual([]);
  });
});

describe('a node of Solana', () => {
  const unavailable = { code: 'chain_unavailable' };

  it.each([
    ['is down', async () => (nodes = only(await deadUrl()))],
    ['answers with an error', async () => (node.status = 500)],
    ['shows another transaction', async () => (node.result = transaction({ signature: base58(Buffer.alloc(64, 8)) }))],
    ['leaves out the effects', async () => (node.result = { ...transaction(), meta: null })],
    ['answers with nonsense', async () => (node.result = { transaction: 5, meta: { err: null } })],
    ['is on another chain', async () => (node.genesis = solanaGenesis[OTHER_MINT])],
  ])('that %s proves and disproves nothing', async (_, arrange) => {
    await arrange();
    await expect(nodes.checkMint(CLAIMED)).rejects.toMatchObject(unavailable);
  });

  it.each([
    ['does not answer', () => (node.status = 503)],
    ['lies about the transaction', () => (node.result = transaction({ signature: base58(Buffer.alloc(64, 9)) }))],
    ['is behind', () => (node.result = null)],
  ])('that %s is made up for by the next one', async (_, arrange) => {
    arrange();
    nodes = only(...urls);
    expect(await nodes.checkMint(CLAIMED)).toEqual({ credited: true });
  });

  it('of another chain stops the start; one that is down is reported', async () => {
    const down = await deadUrl();
    expect(await only(down, urls[0]).checkChain()).toEqual([
      { host: new URL(down).host, trouble: expect.stringContaining('ECONNREFUSED') },
      { host: new URL(urls[0] ?? '').host, trouble: undefined },
    ]);
    node.genesis = solanaGenesis[OTHER_MINT];
    await expect(nodes.checkChain()).rejects.toThrow('is a node of chain');
  });
});
