import {
  type AbiEvent,
  type AbiFunction,
  type ClassDescription,
  decodeCalls,
  decodeMembers,
  type Field,
  type RawCall,
  type Value,
} from './abi.ts';

export interface Token {
  readonly token: string;
  readonly name: string;
  readonly symbol: string;
  readonly address: string;
  readonly decimals: number;
}

export interface KnownContracts {
  readonly tokens: readonly Token[];
  readonly contracts: readonly { readonly name: string; readonly address: string }[];
  readonly classes: readonly ClassDescription[];
}

export const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** What is known by name, for look-ups. */
export class Book {
  readonly tokens: readonly Token[];
  readonly contracts: KnownContracts['contracts'];
  readonly #names: ReadonlyMap<bigint, string>;
  readonly #tokens: ReadonlyMap<bigint, Token>;
  readonly #classes: ReadonlyMap<bigint, ClassDescription>;
  readonly #functions = new Map<bigint, { fn: AbiFunction; of: ClassDescription }[]>();
  readonly #events = new Map<bigint, { event: AbiEvent; of: ClassDescription }[]>();

  constructor({ tokens, contracts, classes }: KnownContracts) {
    this.tokens = tokens;
    this.contracts = contracts;
    this.#tokens = new Map(tokens.map((token) => [BigInt(token.address), token]));
    this.#names = new Map(contracts.map(({ name, address }) => [BigInt(address), name]));
    this.#classes = new Map(classes.map((one) => [BigInt(one.classHash), one]));
    for (const of of classes) {
      for (const fn of of.functions) add(this.#functions, BigInt(fn.selector), { fn, of });
      for (const event of of.events) add(this.#events, BigInt(event.selector), { event, of });
    }
  }

  token(address: bigint): Token | undefined {
    return this.#tokens.get(address);
  }

  /** A token's symbol, or the name of an account of the service. */
  name(address: bigint): string | undefined {
    return this.#tokens.get(address)?.symbol ?? this.#names.get(address);
  }

  /** Of an account of the service, by its name in lower case. */
  addressOf(name: string): string | undefined {
    for (const [address, known] of this.#names) if (known.toLowerCase() === name) return hex(address);
    return undefined;
  }

  class(classHash: bigint): ClassDescription | undefined {
    return this.#classes.get(classHash);
  }

  functionName(selector: bigint): string | undefined {
    return this.#functions.get(selector)?.[0]?.fn.name;
  }

  /** The selector of a function or event, as some known class has it. */
  selector(name: string): string | undefined {
    for (const { functions, events } of this.#classes.values()) {
      const found = functions.find((one) => one.name === name) ?? events.find((one) => one.name === name);
      if (found) return found.selector;
    }
    return undefined;
  }

  functions(selector: bigint): readonly { fn: AbiFunction; of: ClassDescription }[] {
    return this.#functions.get(selector) ?? [];
  }

  events(selector: bigint): readonly { event: AbiEvent; of: ClassDescription }[] {
    return this.#events.get(selector) ?? [];
  }
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}

export interface DecodedCall extends RawCall {
  readonly name: string | undefined;
  readonly inputs: readonly Field[] | undefined;
  /** Calls that an account carries out on behalf of its owner. */
  readonly outside: OutsideExecution | undefined;
  readonly marker: PaymentMarker | undefined;
}

export interface OutsideExecution {
  /** Whose account acts. */
  readonly user: bigint;
  readonly caller: bigint;
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly executeAfter: bigint;
  readonly executeBefore: bigint;
  readonly calls: readonly DecodedCall[];
  /** The session that signed; undefined: the owner. */
  readonly sessionKey: bigint | undefined;
}

/** Executions may contain executions, but nobody needs to see many levels. */
const MAX_LEVELS = 3;
const SESSION_SIGNATURE_LENGTH = 4;

export function decodeCall(book: Book, call: RawCall, level = 0): DecodedCall {
  const { to, selector, calldata } = call;
  const candidates = book.functions(selector);
  let inputs: Field[] | undefined;
  for (const { fn, of } of candidates) inputs ??= decodeMembers(fn.inputs, calldata, of);
  const name = candidates[0]?.fn.name;
  const isOutside = name?.startsWith('execute_from_outside') && inputs !== undefined && level < MAX_LEVELS;
  return {
    to,
    selector,
    calldata,
    name,
    inputs,
    outside: isOutside ? readOutside(book, to, inputs ?? [], level) : undefined,
    marker: name === 'balanceOf' ? readMarker(calldata) : undefined,
  };
}

function readOutside(book: Book, user: bigint, inputs: readonly Field[], level: number): OutsideExecution | undefined {
  const execution = inputs.find(({ name }) => name === 'outside_execution')?.value;
  const signature = inputs.find(({ name }) => name === 'signature')?.value;
  if (execution?.kind !== 'fields') return undefined;
  const field = (name: string) => execution.fields.find((one) => one.name === name)?.value;
  const number = (value: Value | undefined) =>
    value && 'value' in value && typeof value.value === 'bigint' ? value.value : 0n;
  const calls = field('calls');
  const felts = signature?.kind === 'list' ? signature.items.map(number) : [];
  return {
    user,
    caller: number(field('caller')),
    nonce: number(field('nonce')),
    executeAfter: number(field('execute_after')),
    executeBefore: number(field('execute_before')),
    calls: (calls?.kind === 'list' ? calls.items : []).flatMap((item) =>
      item.kind === 'call' ? [decodeCall(book, item.value, level + 1)] : [],
    ),
    sessionKey: felts.length === SESSION_SIGNATURE_LENGTH ? felts[0] : undefined,
  };
}

export interface RpcTransaction {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly tip?: string;
  readonly sender_address?: string;
  readonly calldata?: readonly string[];
  readonly signature: readonly string[];
  readonly class_hash?: string;
  readonly contract_address_salt?: string;
  readonly constructor_calldata?: readonly string[];
  readonly resource_bounds?: Readonly<Record<string, { max_amount: string; max_price_per_unit: string }>>;
}

export function callsOf(book: Book, { calldata }: RpcTransaction): DecodedCall[] | undefined {
  return calldata && decodeCalls(calldata.map(BigInt))?.map((call) => decodeCall(book, call));
}

/** Accounts for whom the transaction acts; empty where its sender acts for itself. */
export function usersOf(calls: readonly DecodedCall[]): bigint[] {
  return [...new Set(calls.flatMap(({ outside }) => (outside ? [outside.user] : [])))];
}

/** The calls that do something, without the envelopes of outside executions. */
export function innerCalls(calls: readonly DecodedCall[]): DecodedCall[] {
  return calls.flatMap((call) => (call.outside ? innerCalls(call.outside.calls) : [call]));
}

export interface RpcEvent {
  readonly from_address: string;
  readonly keys: readonly string[];
  readonly data: readonly string[];
}

export interface DecodedEvent {
  readonly from: bigint;
  readonly name: string | undefined;
  readonly fields: readonly Field[] | undefined;
  readonly raw: RpcEvent;
}

export function decodeEvent(book: Book, raw: RpcEvent): DecodedEvent {
  const [selector = 0n, ...keys] = raw.keys.map(BigInt);
  const data = raw.data.map(BigInt);
  const candidates = book.events(selector);
  let fields: Field[] | undefined;
  for (const { event, of } of candidates) {
    const ofKind = (kind: 'key' | 'data') => event.members.filter((member) => member.kind === kind);
    const indexed = decodeMembers(ofKind('key'), keys, of);
    const rest = decodeMembers(ofKind('data'), data, of);
    if (indexed && rest) fields ??= inOrder(event, [...indexed, ...rest]);
  }
  return { from: BigInt(raw.from_address), name: candidates[0]?.event.name, fields, raw };
}

function inOrder({ members }: AbiEvent, fields: readonly Field[]): Field[] {
  return members.flatMap(({ name }) => fields.filter((field) => field.name === name));
}

export interface TokenTransfer {
  readonly token: Token;
  readonly from: bigint;
  readonly to: bigint;
  readonly amount: bigint;
}

export function transfersOf(book: Book, events: readonly DecodedEvent[]): TokenTransfer[] {
  return events.flatMap(({ from: contract, name, fields }) => {
    const token = book.token(contract);
    if (!token || name !== 'Transfer' || !fields) return [];
    const [from, to, amount] = fields.map(({ value }) => ('value' in value ? value.value : undefined));
    if (typeof from !== 'bigint' || typeof to !== 'bigint' || typeof amount !== 'bigint') return [];
    return [{ token, from, to, amount }];
  });
}

/** Exact: `25.5` for 25500000 of a token with 6 decimals. */
export function inUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - decimals);
  return decimals === 0 || fraction === '' ? whole : `${whole}.${fraction}`;
}

export interface PaymentMarker {
  readonly kind: 'payout' | 'burn' | 'refund';
  readonly id: string;
  readonly giftId: string | undefined;
}

const ID_BITS = 124;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const MARKED = [undefined, 'payout', 'burn', 'refund'] as const;

/** The service names what a payment is for by a call of `balanceOf` with the ids as the address. */
export function readMarker(calldata: readonly bigint[]): PaymentMarker | undefined {
  const [felt, ...rest] = calldata;
  if (felt === undefined || rest.length > 0) return undefined;
  const kind = MARKED[Number(felt >> BigInt(2 * ID_BITS))];
  const own = BigInt.asUintN(ID_BITS, felt);
  const gift = BigInt.asUintN(ID_BITS, felt >> BigInt(ID_BITS));
  if (kind === undefined || own === 0n || (kind === 'refund') !== (gift === 0n)) return undefined;
  if (kind === 'refund') return { kind, id: idOf('txn', own), giftId: undefined };
  return { kind, id: idOf('rdm', own), giftId: idOf('gift', gift) };
}

function idOf(prefix: string, bits: bigint): string {
  const digits = Array.from({ length: 26 }, (_, place) => ALPHABET[Number((bits >> BigInt(5 * (25 - place))) & 31n)]);
  return `${prefix}_${digits.join('')}`;
}

export interface RevertReason {
  /** The innermost words, such as `ERC20: insufficient balance`. */
  readonly words: string;
  /** The way to the failing call, outermost first. */
  readonly frames: readonly { readonly address: bigint; readonly selector: bigint }[];
}

const FRAME = /contract address: (0x[0-9a-f]+), class hash: 0x[0-9a-f]+, selector: (0x[0-9a-f]+)/g;

export function readRevert(reason: string): RevertReason {
  const quoted = [...reason.matchAll(/\('([^'\n]+)'\)|"([^"\n]+)"/g)].map(([, felt, text]) => felt ?? text ?? '');
  // Cairo adds this word of its own to every level.
  const words = quoted.filter((text) => text !== 'ENTRYPOINT_FAILED').at(-1);
  const all = [...reason.matchAll(FRAME)].map(([, address = '0x0', selector = '0x0']) => ({
    address: BigInt(address),
    selector: BigInt(selector),
  }));
  // The outermost frame is written twice.
  const [first, second] = all;
  const isTwice = first && second && first.address === second.address && first.selector === second.selector;
  const lastLine = reason.trim().split('\n').at(-1) ?? reason;
  return { words: words ?? lastLine, frames: isTwice ? all.slice(1) : all };
}
