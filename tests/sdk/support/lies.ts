import type { Lie } from './lying-proxy.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface TypedData {
  types: Record<string, Json>;
  primaryType: string;
  domain: Record<string, Json>;
  message: Record<string, Json> & { Calls: { To: string; Selector: string; Calldata: string[] }[] };
}

export const about =
  (change: (typedData: TypedData) => unknown): Lie =>
  (text) => {
    const answer = JSON.parse(text) as { typedData: TypedData };
    const replaced = change(answer.typedData);
    return JSON.stringify(replaced === undefined ? answer : { ...answer, typedData: replaced });
  };

const put = (place: string, value: Json | (() => Json)): Lie =>
  about((typedData) => {
    const steps = place.split('.');
    const last = steps.pop() ?? '';
    let inner = typedData as unknown as Record<string, Json>;
    for (const step of steps) inner = inner[step] as Record<string, Json>;
    inner[last] = typeof value === 'function' ? value() : value;
  });

const ATTACKER = '0xbad';
const EVIL = {
  To: '0x123',
  Selector: '0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e',
  Calldata: [ATTACKER, '0x1', '0x0'],
};
const HOUR = 3_600;

const first = (data: TypedData) => {
  const [call] = data.message.Calls;
  if (!call) throw new Error('There is no call to change.');
  return call;
};
const hex = (value: bigint | number) => `0x${value.toString(16)}`;
const shift = (after: number, before: number): Lie =>
  about(({ message }) => {
    message['Execute After'] = hex(Number(message['Execute After']) + after);
    message['Execute Before'] = hex(Number(message['Execute Before']) + before);
  });

/** A valuable message of another kind: an allowance. */
const permit = {
  types: {
    StarknetDomain: [
      { name: 'name', type: 'shortstring' },
      { name: 'version', type: 'shortstring' },
      { name: 'chainId', type: 'shortstring' },
      { name: 'revision', type: 'shortstring' },
    ],
    Permit: [
      { name: 'Spender', type: 'ContractAddress' },
      { name: 'Amount', type: 'u128' },
    ],
  },
  primaryType: 'Permit',
  domain: { name: 'USDC', version: '1', chainId: 'SVC_SANDBOX', revision: '1' },
  message: { Spender: ATTACKER, Amount: '0xffffffff' },
};

/** For two calls of the wallet at `account`: `transfer(recipient, amount)` and `approve(spender, amount)`. */
export const callLies = (account: () => string): [string, Lie][] => [
  ['another recipient', put('message.Calls.0.Calldata.0', ATTACKER)],
  ['another amount', put('message.Calls.0.Calldata.1', '0xffffff')],
  ['a high half of the amount', put('message.Calls.0.Calldata.2', '0x1')],
  ['one felt more', about((data) => void first(data).Calldata.push('0x0'))],
  ['one felt less', about((data) => void first(data).Calldata.pop())],
  ['another function', put('message.Calls.0.Selector', hex(0x1234))],
  ['a function by name', put('message.Calls.0.Selector', 'transfer')],
  ['another token', put('message.Calls.0.To', '0x123')],
  ['a call before', about((data) => void data.message.Calls.unshift(EVIL))],
  ['a call after', about((data) => void data.message.Calls.push(EVIL))],
  ['a call between', about((data) => void data.message.Calls.splice(1, 0, EVIL))],
  ['a call twice', about((data) => void data.message.Calls.push(first(data)))],
  ['a call less', about((data) => void data.message.Calls.pop())],
  ['no calls', about((data) => void data.message.Calls.splice(0))],
  ['another order', about((data) => void data.message.Calls.reverse())],
  ['mainnet', put('domain.chainId', 'SN_MAIN')],
  ['another chain', put('domain.chainId', hex(0x534e5f5345504f4c4941n))],
  ['another revision', put('domain.revision', '0')],
  ['another domain', put('domain.name', 'Account.execute')],
  ['another version', put('domain.version', '1')],
  ['one field more in its domain', put('domain.salt', '0x1')],
  ['another primary type', put('primaryType', 'Call')],
  ['one type more', put('types.Permit', [])],
  ['other types', about((data) => void (data.types.Call as Json[]).reverse())],
  ['one field more in its message', put('message.Fee', '0x1')],
  ['a window of two hours', shift(0, HOUR)],
  ['a window that began long ago', shift(-HOUR, 0)],
  ['a window without end', put('message.Execute Before', hex(2n ** 63n))],
  ['a window that is over', shift(-2 * HOUR, -2 * HOUR)],
  ['a window of tomorrow', shift(24 * HOUR, 24 * HOUR)],
  ['a time that is none', put('message.Execute Before', 'never')],
  ['zero caller', put('message.Caller', '0x0')],
  ['the wallet itself as caller', put('message.Caller', account)],
  ['a nonce that is no felt', put('message.Nonce', hex(2n ** 255n))],
  ['a nonce of another kind', put('message.Nonce', ['0x1'])],
  ['an allowance in its place', about(() => permit)],
  ['a list around it', about((data) => [data])],
  ['its text in its place', about((data) => JSON.stringify(data))],
  ['nothing in its place', about(() => null)],
  ['no field for it', () => '{"walletType":"SVC"}'],
  ['a second message behind the first', (text) => doubled(text, 'message', { Calls: [EVIL] })],
  ['a second list of calls behind the first', (text) => doubled(text, 'Calls', [EVIL])],
  ['a prototype', (text) => text.replace('"message":{', '"message":{"__proto__":{"Calls":[]},')],
];

/** Repeats a key at the end: JSON parsers take the last one. */
function doubled(text: string, key: string, value: object): string {
  const { typedData } = JSON.parse(text) as { typedData: TypedData };
  const inMessage = key === 'Calls';
  const inner = JSON.stringify(inMessage ? typedData.message : typedData);
  const again = `${inner.slice(0, -1)},"${key}":${JSON.stringify(inMessage ? value : { ...typedData.message, ...value })}}`;
  const { message: _, ...rest } = typedData;
  return `{"typedData":${inMessage ? `${JSON.stringify(rest).slice(0, -1)},"message":${again}}` : again}}`;
}

export const addsCall = about((data) => void data.message.Calls.push(EVIL));
export const replacesCall = about((data) => void data.message.Calls.splice(0, data.message.Calls.length, EVIL));
/** Another target class of an upgrade, or another key or expiry of a session. */
export const changesFelt = (index: number): Lie => put(`message.Calls.0.Calldata.${index}`, '0xbad');
