import { createHash } from 'node:crypto';
import { type Db, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { applyRequestFault, type BridgeDeps } from './attestation.ts';
import { changeMessage } from './cctp-message.ts';
import { encodeBase58, slotAt, USDC_MINT } from './solana-address.ts';

const MESSAGE_TRANSMITTER = 'CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC';
const TOKEN_MESSENGER = 'CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const FORWARDER = encodeBase58(digest('forwarder'));
const GENESIS = encodeBase58(digest('genesis'));
const USDC_DECIMALS = 6;
const FEE_LAMPORTS = 5_000;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const MAX_BODY_BYTES = 16 * 1024;

type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };
type Method = (deps: BridgeDeps, params: readonly unknown[]) => Promise<Answer>;

/** Methods of a Solana node that a reader of mints needs. Mints are confirmed at once and never undone. */
const methods: Readonly<Record<string, Method>> = {
  getGenesisHash: async () => ({ result: GENESIS }),
  getSlot: async ({ seconds }) => ({ result: Number(slotAt(await seconds())) }),
  getTransaction: async ({ db }, [signature, options]) => {
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return failure(-32602, 'Invalid param: Invalid');
    const { encoding } = (options ?? {}) as { encoding?: unknown };
    if (encoding !== 'jsonParsed') return failure(-32602, 'The sandbox answers with encoding jsonParsed only.');
    return { result: await readTransaction(db, signature) };
  },
};

const failure = (code: number, message: string): Answer => ({ error: { code, message } });

export function registerSolanaRpc(app: FastifyInstance, deps: BridgeDeps): void {
  app.post(
    '/bridge/solana/rpc',
    {
      bodyLimit: MAX_BODY_BYTES,
      preHandler: (request, reply) => applyRequestFault(deps, 'solana', request, reply),
    },
    async ({ body }) => {
      const { id = null, method, params = [] } = (body ?? {}) as Record<string, unknown>;
      const isRequest = typeof method === 'string' && Array.isArray(params);
      const run = isRequest && Object.hasOwn(methods, method) ? methods[method] : undefined;
      const unknown = isRequest ? failure(-32601, 'Method not found') : failure(-32600, 'Invalid request');
      return { jsonrpc: '2.0', ...(run ? await run(deps, params as unknown[]) : unknown), id };
    },
  );
}

interface Row {
  readonly owner: string;
  readonly token_account: string;
  readonly amount: string;
  readonly before: string;
  readonly slot: bigint;
  readonly block_time: bigint;
  readonly message: Uint8Array;
  readonly nonce: string;
  readonly fee_executed: string | null;
}

async function readTransaction(db: Db, signature: string): Promise<unknown> {
  const row = await db.one<Row>(sql`
    select a.owner, t.token_account, t.amount, t.slot, t.block_time, m.message, m.nonce, m.fee_executed,
           (select coalesce(sum(earlier.amount), 0)::text from sandbox.solana_transactions earlier
             where earlier.token_account = t.token_account
               and (earlier.slot, earlier.signature) < (t.slot, t.signature)) as before
      from sandbox.solana_transactions t
      join sandbox.solana_accounts a on a.token_account = t.token_account
      join sandbox.bridge_burns m on m.nonce = t.nonce
     where t.signature = ${signature}`);
  return row ? showTransaction(signature, row) : null;
}

/** As a live node shows it with `jsonParsed`: programs without a parser have their data in base58. */
function showTransaction(signature: string, row: Row) {
  const message = changeMessage(row.message, {
    nonce: BigInt(row.nonce),
    feeExecuted: BigInt(row.fee_executed ?? 0),
  });
  const keys = [FORWARDER, row.token_account, USDC_MINT, MESSAGE_TRANSMITTER, TOKEN_MESSENGER, TOKEN_PROGRAM];
  const balance = (amount: bigint) => ({
    accountIndex: 1,
    mint: USDC_MINT,
    owner: row.owner,
    programId: TOKEN_PROGRAM,
    uiTokenAmount: uiAmount(amount),
  });
  const before = BigInt(row.before);
  const lamports = keys.map((_, index) => (index === 0 ? 1_000_000_000 : 2_039_280));
  return {
    blockTime: Number(row.block_time),
    slot: Number(row.slot),
    version: 0,
    meta: {
      computeUnitsConsumed: 180_000,
      err: null,
      fee: FEE_LAMPORTS,
      innerInstructions: [],
      logMessages: [`Program ${MESSAGE_TRANSMITTER} success`],
      preBalances: lamports.map((each, index) => (index === 0 ? each + FEE_LAMPORTS : each)),
      postBalances: lamports,
      preTokenBalances: before > 0n ? [balance(before)] : [],
      postTokenBalances: [balance(before + BigInt(row.amount))],
      rewards: [],
      status: { Ok: null },
    },
    transaction: {
      message: {
        accountKeys: keys.map((pubkey, index) => ({
          pubkey,
          signer: index === 0,
          source: 'transaction',
          writable: index < 2,
        })),
        instructions: [
          {
            accounts: keys.slice(0, 3),
            data: encodeBase58(receiveMessage(message)),
            programId: MESSAGE_TRANSMITTER,
            stackHeight: 1,
          },
        ],
        recentBlockhash: encodeBase58(digest(`block ${row.slot}`)),
        addressTableLookups: [],
      },
      signatures: [signature],
    },
  };
}

/** Anchor's discriminator, then the message as a vector of bytes. */
function receiveMessage(message: Uint8Array): Uint8Array {
  const discriminator = createHash('sha256').update('global:receive_message').digest().subarray(0, 8);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(message.length);
  return Buffer.concat([discriminator, length, message]);
}

function uiAmount(amount: bigint) {
  const text = (amount / 1_000_000n).toString();
  const rest = (amount % 1_000_000n).toString().padStart(USDC_DECIMALS, '0').replace(/0+$/, '');
  const uiAmountString = rest === '' ? text : `${text}.${rest}`;
  return { amount: String(amount), decimals: USDC_DECIMALS, uiAmount: Number(uiAmountString), uiAmountString };
}

function digest(what: string): Uint8Array {
  return createHash('sha256').update(`svc sandbox solana ${what}`).digest();
}
