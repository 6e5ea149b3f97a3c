import { type Parsed, parsed, unparsed } from '@svc/protocol/values';
import type { Call } from './calls.ts';
import { ADDRESS_BOUND, parseFelt, shortString, toHex } from './felt.ts';
import { OUTSIDE_EXECUTION_DOMAIN, type OutsideExecution } from './outside-execution.ts';

/** More than any transaction may carry; bounds the hashing of untrusted input. */
const MAX_FELTS = 5_000;
const TIME_BOUND = 2n ** 64n;

const TYPES = {
  StarknetDomain: [
    { name: 'name', type: 'shortstring' },
    { name: 'version', type: 'shortstring' },
    { name: 'chainId', type: 'shortstring' },
    { name: 'revision', type: 'shortstring' },
  ],
  OutsideExecution: [
    { name: 'Caller', type: 'ContractAddress' },
    { name: 'Nonce', type: 'felt' },
    { name: 'Execute After', type: 'u128' },
    { name: 'Execute Before', type: 'u128' },
    { name: 'Calls', type: 'Call*' },
  ],
  Call: [
    { name: 'To', type: 'ContractAddress' },
    { name: 'Selector', type: 'selector' },
    { name: 'Calldata', type: 'felt*' },
  ],
} as const;

/** Version 2 of SNIP-9 for wallets (SNIP-12 revision 1). */
export function outsideExecutionTypedData(execution: OutsideExecution, chainId: bigint): object {
  const { caller, nonce, executeAfter, executeBefore, calls } = execution;
  return {
    types: structuredClone(TYPES),
    primaryType: 'OutsideExecution',
    domain: { name: OUTSIDE_EXECUTION_DOMAIN, version: '2', chainId: toHex(chainId), revision: '1' },
    message: {
      Caller: toHex(caller),
      Nonce: toHex(nonce),
      'Execute After': toHex(executeAfter),
      'Execute Before': toHex(executeBefore),
      Calls: calls.map(({ to, selector, calldata }) => ({
        To: toHex(to),
        Selector: toHex(selector),
        Calldata: calldata.map(toHex),
      })),
    },
  };
}

/** Accepts exactly what `outsideExecutionTypedData` writes, in any notation with the same hash. */
export function parseOutsideExecutionTypedData(
  typedData: unknown,
): Parsed<{ execution: OutsideExecution; chainId: bigint }> {
  try {
    return parsed(readTypedData(typedData));
  } catch (error) {
    if (error instanceof Refusal) return unparsed(error.message);
    throw error;
  }
}

class Refusal extends Error {}

function readTypedData(typedData: unknown) {
  const { types, primaryType, domain, message } = fields(typedData, 'typed data', [
    'types',
    'primaryType',
    'domain',
    'message',
  ]);
  readTypes(types);
  if (primaryType !== 'OutsideExecution') throw new Refusal('primaryType must be OutsideExecution');
  const chainId = readDomain(domain);
  return { execution: readMessage(message), chainId };
}

function readTypes(value: unknown): void {
  const types = fields(value, 'types', Object.keys(TYPES));
  for (const [name, expected] of Object.entries(TYPES)) {
    const path = `types.${name}`;
    const members = list(types[name], path);
    if (members.length !== expected.length) throw new Refusal(`${path} must have ${expected.length} fields`);
    for (const [index, member] of expected.entries()) {
      const given = fields(members[index], `${path}[${index}]`, ['name', 'type']);
      if (given.name !== member.name || given.type !== member.type) {
        throw new Refusal(`${path}[${index}] must be ${member.name}: ${member.type}`);
      }
    }
  }
}

function readDomain(value: unknown): bigint {
  const domain = fields(value, 'domain', ['name', 'version', 'chainId', 'revision']);
  if (domain.name !== OUTSIDE_EXECUTION_DOMAIN) throw new Refusal(`domain.name must be ${OUTSIDE_EXECUTION_DOMAIN}`);
  if (felt(domain.version, 'domain.version') !== 2n) throw new Refusal('domain.version must be 2');
  if (domain.revision !== '1' && domain.revision !== 1) throw new Refusal('domain.revision must be 1');
  return readChainId(domain.chainId);
}

/** As in hashing, a leading digit makes it a number. */
function readChainId(value: unknown): bigint {
  if (typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,30}$/.test(value)) return shortString(value);
  return felt(value, 'domain.chainId');
}

function readMessage(value: unknown): OutsideExecution {
  const message = fields(value, 'message', ['Caller', 'Nonce', 'Execute After', 'Execute Before', 'Calls']);
  const calls = list(message.Calls, 'message.Calls');
  return {
    caller: below(ADDRESS_BOUND, message.Caller, 'message.Caller'),
    nonce: felt(message.Nonce, 'message.Nonce'),
    executeAfter: below(TIME_BOUND, message['Execute After'], 'message.Execute After'),
    executeBefore: below(TIME_BOUND, message['Execute Before'], 'message.Execute Before'),
    calls: readCalls(calls),
  };
}

function readCalls(values: readonly unknown[]): Call[] {
  let felts = 0;
  return values.map((value, index) => {
    const path = `message.Calls[${index}]`;
    const call = fields(value, path, ['To', 'Selector', 'Calldata']);
    const calldata = list(call.Calldata, `${path}.Calldata`);
    felts += calldata.length + 3;
    if (felts > MAX_FELTS) throw new Refusal(`message.Calls must have at most ${MAX_FELTS} felts`);
    return {
      to: below(ADDRESS_BOUND, call.To, `${path}.To`),
      selector: readSelector(call.Selector, `${path}.Selector`),
      calldata: calldata.map((item, position) => felt(item, `${path}.Calldata[${position}]`)),
    };
  });
}

/** Hexadecimal only: hashing takes any other text for a function name. */
function readSelector(value: unknown, path: string): bigint {
  if (typeof value !== 'string' || !value.startsWith('0x')) throw new Refusal(`${path} must be hexadecimal`);
  return felt(value, path);
}

function felt(value: unknown, path: string): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value !== 'string') throw new Refusal(`${path} must be a hexadecimal or decimal integer`);
  const result = parseFelt(value);
  if (!result.ok) throw new Refusal(`${path} ${result.reason}`);
  return result.value;
}

function below(bound: bigint, value: unknown, path: string): bigint {
  const number = felt(value, path);
  if (number >= bound) throw new Refusal(`${path} is too large`);
  return number;
}

function list(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refusal(`${path} must be a list`);
  if (value.length > MAX_FELTS) throw new Refusal(`${path} must have at most ${MAX_FELTS} items`);
  return value;
}

function fields<const Name extends string>(value: unknown, path: string, names: readonly Name[]) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal(`${path} must be an object`);
  const missing = names.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) throw new Refusal(`${path} lacks ${missing}`);
  const extra = Object.keys(value).find((key) => !names.some((name) => name === key));
  if (extra !== undefined) throw new Refusal(`${path} has a field too many`);
  return value as Record<Name, unknown>;
}
