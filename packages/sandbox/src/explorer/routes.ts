import { ApiError } from '@svc/protocol';
import { LEGACY_UDC_ADDRESS, parseFelt, toHex, UDC_ADDRESS } from '@svc/starknet';
import { type Database, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { readHead } from '../chain/head.ts';
import type { ContractClass } from '../chain/transaction.ts';
import { MESSAGE_TRANSMITTER_ADDRESS, TOKEN_MESSENGER_ADDRESS } from '../contracts/cctp.ts';
import { contractOf, contracts } from '../contracts/genesis.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { starknetTokens } from '../tokens.ts';
import { type ClassDescription, describeClass, parseAbi } from './class-description.ts';
import { listAccounts, listTransactions } from './lists.ts';

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;
/** Versions are 32-bit integers. */
const MAX_CURSOR = 2 ** 31 - 1;

/** Reads that JSON-RPC has no method for. `POST /explorer/api/rpc` stands with the other JSON-RPC routes. */
export function registerExplorer(app: FastifyInstance, db: Database): void {
  let known: ReturnType<typeof knownContracts> | undefined;
  app.get('/explorer/api/contracts', async () => {
    known ??= knownContracts();
    return known;
  });

  app.get<{ Params: { hash: string } }>('/explorer/api/classes/:hash', async ({ params }) => {
    const found = await findClass(db, requireFelt(params.hash, 'The class hash'));
    if (!found) throw new ApiError('not_found', 'No class has this hash.');
    return found;
  });

  app.get<{ Querystring: Record<string, unknown> }>('/explorer/api/transactions', async ({ query }) => {
    const address = query.address === undefined ? undefined : requireFelt(query.address, 'query.address');
    return listTransactions(db, { address, ...readPage(query) });
  });

  app.get<{ Querystring: Record<string, unknown> }>('/explorer/api/accounts', async ({ query }) =>
    listAccounts(db, readPage(query)),
  );

  app.get('/explorer/api/head', async () => {
    const { number, timeOffsetSeconds, blockSeconds, queued, open } = await readHead(db.reads);
    const row = await db.one<{ transactions: bigint }>(sql`select count(*) as transactions from sandbox.transactions`);
    return {
      blockNumber: number,
      offsetSeconds: timeOffsetSeconds,
      blockSeconds,
      waitingTransactions: queued,
      openTransactions: open?.transactions ?? 0,
      transactions: Number(row?.transactions ?? 0),
    };
  });
}

function knownContracts() {
  const { sequencer, relayers, manager, faucet } = predeployed;
  const named = (name: string, address: bigint) => ({ name, address: toHex(address) });
  return {
    tokens: starknetTokens.map(({ address, ...token }) => ({ ...token, address: toHex(address) })),
    contracts: [
      ...[...relayers, manager, faucet, sequencer].map(({ label, address }) => named(label, address)),
      named('universal deployer', UDC_ADDRESS),
      named('universal deployer (legacy)', LEGACY_UDC_ADDRESS),
      named('CCTP token messenger', TOKEN_MESSENGER_ADDRESS),
      named('CCTP message transmitter', MESSAGE_TRANSMITTER_ADDRESS),
    ],
    classes: contracts.map(({ classHash, name, abi }) => describeClass(classHash, name, abi)),
  };
}

async function findClass(db: Database, hash: bigint): Promise<ClassDescription | undefined> {
  const native = contractOf(hash);
  if (native) return describeClass(hash, native.name, native.abi);
  const row = await db.one<{ definition: ContractClass }>(
    sql`select definition from sandbox.classes where hash = ${toHex(hash)}`,
  );
  return row && describeClass(hash, '', parseAbi(row.definition.abi));
}

function requireFelt(value: unknown, name: string): bigint {
  const felt = parseFelt(typeof value === 'string' ? value : '');
  if (!felt.ok) throw new ApiError('invalid_request', `${name} ${felt.reason}.`);
  return felt.value;
}

function readPage({ limit, cursor }: Record<string, unknown>): { limit: number; before: number } {
  return {
    limit: Math.min(readCount(limit, 'limit', DEFAULT_LIMIT), MAX_LIMIT),
    before: Math.min(readCount(cursor, 'cursor', MAX_CURSOR), MAX_CURSOR),
  };
}

function readCount(value: unknown, name: string, usual: number): number {
  if (value === undefined) return usual;
  if (typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value)) return Number(value);
  throw new ApiError('invalid_request', `query.${name} must be a whole number of at least 1.`);
}
