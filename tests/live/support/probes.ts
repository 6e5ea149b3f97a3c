import { classes, selector, toHex } from '@svc/starknet';
import { invocation, type Sender } from '../../support/sandbox.ts';
import { STRK, USDC } from '../../support/starknet-client.ts';

/** A node with two accounts that can pay, and one transaction in a block. */
export interface Probed {
  readonly url: string;
  readonly sender: Sender;
  /** Its nonce is 0. */
  readonly fresh: Sender;
  /** Of a transfer of STRK by `sender`. */
  readonly hash: string;
  readonly blockNumber: number;
}

/** A request as it is sent: a text, or a method with its parameters. */
export type Request = string | { readonly method: string; readonly params?: unknown };
export type Probe = readonly [name: string, request: (node: Probed) => Request];

const of = (method: string, params?: unknown) => ({ method: `starknet_${method}`, params });
const raw = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));
const call = (entrypoint: string, calldata: readonly string[] = [], contract_address = STRK) => ({
  request: { contract_address, entry_point_selector: toHex(selector(entrypoint)), calldata },
  block_id: 'latest',
});

type Shown = Record<string, unknown> & { readonly resource_bounds: Record<string, object> };

/** A transfer of STRK, or of USDC that the sender does not have. */
function transferBy(from: Sender, nonce: number, token = STRK): Shown {
  const calls = [{ to: BigInt(token), selector: selector('transfer'), calldata: [0xb0bn, 1n, 0n] }];
  const { params } = JSON.parse(invocation(from, nonce, calls).body) as { params: [Shown] };
  return params[0];
}

const sent = (transaction: object) => of('addInvokeTransaction', { invoke_transaction: transaction });
const changed =
  (changes: (transaction: Shown) => object) =>
  ({ fresh }: Probed) => {
    const transaction = transferBy(fresh, 0);
    return sent({ ...transaction, ...changes(transaction) });
  };
const priced = (resource: string, price: string) =>
  changed(({ resource_bounds }) => ({
    resource_bounds: { ...resource_bounds, [resource]: { ...resource_bounds[resource], max_price_per_unit: price } },
  }));
const estimated = (transactions: readonly object[], simulation_flags: readonly string[] = ['SKIP_VALIDATE']) =>
  of('estimateFee', { request: transactions, simulation_flags, block_id: 'latest' });
const simulated = (transactions: readonly object[], simulation_flags: readonly string[] = []) =>
  of('simulateTransactions', { block_id: 'latest', transactions, simulation_flags });
const events = (changes: object) => () =>
  of('getEvents', [{ from_block: { block_number: 0 }, to_block: 'latest', chunk_size: 10, ...changes }]);
const deployed = (class_hash: string) => {
  const {
    sender_address: _sender,
    calldata: _calldata,
    account_deployment_data: _data,
    ...rest
  } = transferBy({ address: '0x1', privateKey: '0x1' }, 0);
  const deployment = {
    type: 'DEPLOY_ACCOUNT',
    class_hash,
    contract_address_salt: '0x1',
    constructor_calldata: ['0x1'],
  };
  return of('addDeployAccountTransaction', { deploy_account_transaction: { ...rest, ...deployment } });
};

export const probes: readonly Probe[] = [
  ['JSON-RPC: no JSON', () => '{"jsonrpc":'],
  ['JSON-RPC: an empty body', () => ''],
  ['JSON-RPC: a text', () => '"hello"'],
  ['JSON-RPC: an empty batch', () => '[]'],
  ['JSON-RPC: a version that is not 2.0', () => raw({ id: 1, method: 'starknet_chainId', params: [] })],
  ['JSON-RPC: no id', () => raw({ jsonrpc: '2.0', method: 'starknet_chainId', params: [] })],
  ['JSON-RPC: a method that is no text', () => raw({ jsonrpc: '2.0', id: 1, method: 5 })],
  ['JSON-RPC: an unknown method', () => of('nothing')],
  ['JSON-RPC: too many parameters', () => of('chainId', [1])],
  ['JSON-RPC: parameters that are a text', () => of('chainId', 'x')],
  ['JSON-RPC: a missing parameter', () => of('getNonce', {})],
  [
    'JSON-RPC: an unknown parameter',
    ({ sender }) => of('getNonce', { block_id: 'latest', contract_address: sender.address, colour: 'red' }),
  ],
  ['JSON-RPC: parameters by position', ({ sender }) => of('getNonce', ['latest', sender.address])],
  [
    'JSON-RPC: a batch',
    () => raw([1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'starknet_chainId', params: [] }))),
  ],
  ['specVersion', () => of('specVersion', [])],
  ['chainId', () => of('chainId', [])],
  ['syncing', () => of('syncing', [])],
  ['blockNumber', () => of('blockNumber', [])],
  ['blockHashAndNumber', () => of('blockHashAndNumber', [])],
  ...[
    'getBlockWithTxHashes',
    'getBlockWithTxs',
    'getBlockWithReceipts',
    'getStateUpdate',
    'traceBlockTransactions',
  ].map((method): Probe => [method, ({ blockNumber }) => of(method, { block_id: { block_number: blockNumber } })]),
  ['getBlockWithTxHashes: pre_confirmed', () => of('getBlockWithTxHashes', ['pre_confirmed'])],
  ['getBlockWithTxHashes: l1_accepted', () => of('getBlockWithTxHashes', ['l1_accepted'])],
  ['getStateUpdate: pre_confirmed', () => of('getStateUpdate', { block_id: 'pre_confirmed' })],
  ['getBlockTransactionCount', ({ blockNumber }) => of('getBlockTransactionCount', [{ block_number: blockNumber }])],
  ['block: an unknown number', () => of('getBlockWithTxHashes', [{ block_number: 999_999 }])],
  ['block: an unknown hash', () => of('getBlockWithTxHashes', [{ block_hash: '0x404' }])],
  ['block: an unknown tag', () => of('getBlockWithTxHashes', ['newest'])],
  ['block: the tag of older versions', () => of('getBlockWithTxHashes', ['pending'])],
  ['block: both number and hash', () => of('getBlockWithTxHashes', [{ block_number: 1, block_hash: '0x1' }])],
  ['block: a fraction', () => of('getBlockWithTxHashes', [{ block_number: 1.5 }])],
  [
    'block: a transaction beyond its last',
    ({ blockNumber }) => of('getTransactionByBlockIdAndIndex', { block_id: { block_number: blockNumber }, index: 9 }),
  ],
  [
    'getTransactionByBlockIdAndIndex',
    ({ blockNumber }) => of('getTransactionByBlockIdAndIndex', { block_id: { block_number: blockNumber }, index: 0 }),
  ],
  ...['getNonce', 'getClassHashAt', 'getClassAt'].map(
    (method): Probe => [`${method}: no contract`, () => of(method, { block_id: 'latest', contract_address: '0x404' })],
  ),
  [
    'getStorageAt: no contract',
    () => of('getStorageAt', { contract_address: '0x404', key: '0x1', block_id: 'latest' }),
  ],
  ['getStorageAt', () => of('getStorageAt', { contract_address: STRK, key: '0x1', block_id: 'latest' })],
  ['getClassHashAt', ({ sender }) => of('getClassHashAt', ['latest', sender.address])],
  ['getClass: the wallet', () => of('getClass', ['latest', toHex(classes.svc)])],
  ['getClass: an unknown one', () => of('getClass', ['latest', '0x404'])],
  ['call', ({ sender }) => of('call', call('balance_of', [sender.address]))],
  ['call: no contract', () => of('call', call('name', [], '0x404'))],
  ['call: no entry point', () => of('call', call('no_such_entrypoint'))],
  ['call: a panic', () => of('call', call('transfer', ['0x1', '0x1', '0x0']))],
  ['call: too little calldata', () => of('call', call('balance_of'))],
  ['call: an unknown block', () => of('call', { ...call('decimals'), block_id: { block_number: 999_999 } })],
  ['getTransactionByHash', ({ hash }) => of('getTransactionByHash', { transaction_hash: hash })],
  ['getTransactionByHash: by position', ({ hash }) => of('getTransactionByHash', [hash])],
  ['getTransactionReceipt', ({ hash }) => of('getTransactionReceipt', [hash])],
  ['getTransactionStatus', ({ hash }) => of('getTransactionStatus', [hash])],
  ['traceTransaction', ({ hash }) => of('traceTransaction', [hash])],
  ...['getTransactionByHash', 'getTransactionReceipt', 'getTransactionStatus', 'traceTransaction'].map(
    (method): Probe => [`${method}: an unknown one`, () => of(method, { transaction_hash: '0x404' })],
  ),
  ['transaction: a wrong signature', changed(() => ({ signature: ['0x1', '0x2'] }))],
  ['transaction: no signature', changed(() => ({ signature: [] }))],
  ['transaction: version 1', changed(() => ({ version: '0x1' }))],
  ['transaction: a version for estimates', changed(() => ({ version: '0x100000000000000000000000000000003' }))],
  ['transaction: another type', changed(() => ({ type: 'DECLARE' }))],
  ['transaction: a decimal', changed(() => ({ calldata: ['12'] }))],
  ['transaction: a tip of 65 bits', changed(() => ({ tip: '0x10000000000000000' }))],
  ['transaction: no bounds', changed(() => ({ resource_bounds: undefined }))],
  ['transaction: an unknown sender', changed(() => ({ sender_address: '0x404' }))],
  ['transaction: a sender that is no account', changed(() => ({ sender_address: USDC }))],
  ['transaction: no price for L1 gas', priced('l1_gas', '0x0')],
  ['transaction: no price for L1 data gas', priced('l1_data_gas', '0x0')],
  ['transaction: a price of L2 gas that is too low', priced('l2_gas', '0x1')],
  ['transaction: bounds that the sender cannot pay', priced('l2_gas', '0xffffffffffffffffffff')],
  ['transaction: sent before', ({ sender }) => sent(transferBy(sender, 0))],
  ['transaction: a used nonce', ({ sender }) => sent(transferBy(sender, 0, USDC))],
  ['transaction: a nonce far ahead', ({ sender }) => sent(transferBy(sender, 5_000))],
  ['deployment: an unknown class', () => deployed('0x404')],
  ['deployment: an account without money', () => deployed(toHex(classes.svc))],
  ['estimateFee', ({ fresh }) => estimated([transferBy(fresh, 0)])],
  ['estimateFee: with validation', ({ fresh }) => estimated([transferBy(fresh, 0)], [])],
  ['estimateFee: a revert', ({ fresh }) => estimated([transferBy(fresh, 0, USDC)])],
  [
    'estimateFee: a wrong signature',
    ({ fresh }) => estimated([{ ...transferBy(fresh, 0), signature: ['0x1', '0x2'] }], []),
  ],
  ['estimateFee: version 1', ({ fresh }) => estimated([{ ...transferBy(fresh, 0), version: '0x1' }])],
  ['estimateFee: a nonce ahead', ({ fresh }) => estimated([transferBy(fresh, 7)])],
  ['estimateFee: a used nonce', ({ sender }) => estimated([transferBy(sender, 0, USDC)])],
  ['estimateFee: no transactions', () => estimated([])],
  ['estimateFee: an unknown flag', ({ fresh }) => estimated([transferBy(fresh, 0)], ['SKIP_ALL'])],
  ['simulateTransactions', ({ fresh }) => simulated([transferBy(fresh, 0)])],
  ['simulateTransactions: a revert', ({ fresh }) => simulated([transferBy(fresh, 0, USDC)])],
  ['simulateTransactions: no fee', ({ fresh }) => simulated([transferBy(fresh, 0)], ['SKIP_FEE_CHARGE'])],
  ['getEvents', events({ address: STRK, chunk_size: 1 })],
  ['getEvents: none', events({ address: '0x404' })],
  ['getEvents: a page of none', events({ chunk_size: 0 })],
  ['getEvents: a page that is too large', events({ chunk_size: 1_025 })],
  ['getEvents: a page of less than nothing', events({ chunk_size: -1 })],
  ['getEvents: a token that was made up', events({ continuation_token: 'made-up' })],
  ['getEvents: too many keys', events({ keys: [Array.from({ length: 257 }, (_, key) => toHex(BigInt(key)))] })],
  ['getEvents: a block that is not there', events({ to_block: { block_number: 999_999 } })],
  ['getCompiledCasm', () => of('getCompiledCasm', [toHex(classes.svc)])],
  ['getStorageProof', () => of('getStorageProof', { block_id: 'latest' })],
  ['getMessagesStatus: an unknown hash', () => of('getMessagesStatus', [`0x${'1'.repeat(64)}`])],
  ['estimateMessageFee: nothing', () => of('estimateMessageFee', [])],
];

/** What a node answers, without its values: an error's code and data, or the fields of a result. */
export async function answerTo({ url }: Probed, request: Request): Promise<string[]> {
  const { method, params } = typeof request === 'string' ? { method: undefined, params: undefined } : request;
  const body = typeof request === 'string' ? request : JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const text = await response.text();
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return [`HTTP ${response.status}, no JSON`];
  }
  const { error, result } = answer as { error?: { code: number; data?: unknown }; result?: unknown };
  // The data of JSON-RPC's own errors is a sentence, or nothing.
  const hasData = error && error.code > FIRST_OF_JSON_RPC && error.data !== undefined;
  if (error) return [`error ${error.code}`, ...(hasData ? fieldsOf('data', error.data) : [])].sort();
  return [...new Set(Array.isArray(answer) ? fieldsOf('answers', answer) : fieldsOf('result', result))].sort();
}

const FIRST_OF_JSON_RPC = -32_000;

/** What is different in one of two answers, in a few words. */
export function differenceOf(own: readonly string[], other: readonly string[]): string {
  const isError = ([first = '']: readonly string[]) => first.startsWith('error') || first.startsWith('data');
  const codeOf = (answer: readonly string[]) => answer.find((line) => line.startsWith('error')) ?? 'a result';
  if (isError(own) !== isError(other) || codeOf(own) !== codeOf(other)) return codeOf(own);
  const fields = own.filter((line) => !other.includes(line)).map((line) => line.split(':')[0] ?? '');
  const parents = [...new Set(fields.map((field) => field.slice(0, field.lastIndexOf('.'))))];
  const inside = (parent: string) =>
    fields.filter((field) => field.slice(0, field.lastIndexOf('.')) === parent).map((field) => field.split('.').at(-1));
  return parents.map((parent) => `\`${parent}\` with \`${inside(parent).join('`, `')}\``).join(', ') || '–';
}

/** Deep calls repeat the fields of the outer ones. */
const MAX_DEPTH = 4;

function fieldsOf(at: string, value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return [at, ...value.slice(0, 3).flatMap((each) => fieldsOf(`${at}[]`, each, depth))];
  if (typeof value !== 'object' || value === null) return [`${at}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([key, each]) => fieldsOf(`${at}.${key}`, each, depth + 1));
}
