import { ApiError } from '@svc/protocol';
import { faultKinds, type NewFault } from '../chain/faults.ts';
import { type Body, readBody, readOneOf, readOptionalText, readOptionalWhole, readText, readWhole } from './body.ts';
import type { Command } from './commands.ts';
import { MAX_MINED_BLOCKS, MAX_REORGANISED_BLOCKS } from './limits.ts';

/** A century either way; beyond it times no longer fit what contracts keep them in. */
const MAX_OFFSET_SECONDS = 100 * 366 * 86_400;
/** Longer blocks are better made by hand, with mine. */
const MAX_BLOCK_SECONDS = 3_600;
const MAX_L1_AFTER_BLOCKS = 1_000_000;

/** Nobody means to break a chain for longer than a day. */
const MAX_FAULT_SECONDS = 86_400;
const DEFAULT_FAULT_SECONDS = 3_600;
const MAX_FAULT_COUNT = 10_000;
/** Shorter than what clients wait for an answer. */
const MAX_DELAY_MS = 60_000;
const MAX_TEXT = 1_000;
/** As far as JSON-RPC error codes go. */
const MAX_CODE = 2 ** 31 - 1;

/** `POST /starknet/mine` `{blocks?}`, 1 by default. */
export function readMine(body: unknown): Command {
  return { do: 'mine', blocks: readOptionalWhole(readBody(body), 'blocks', 1, MAX_MINED_BLOCKS) ?? 1 };
}

/** `POST /starknet/time` `{offsetSeconds}` or `{increaseSeconds}`. */
export function readTime(value: unknown): Command {
  const body = readBody(value);
  const offsetSeconds = readOptionalWhole(body, 'offsetSeconds', -MAX_OFFSET_SECONDS, MAX_OFFSET_SECONDS);
  const seconds = readOptionalWhole(body, 'increaseSeconds', 0, MAX_OFFSET_SECONDS);
  if (offsetSeconds !== undefined && seconds === undefined) return { do: 'set-time', offsetSeconds };
  if (seconds !== undefined && offsetSeconds === undefined) return { do: 'increase-time', seconds };
  throw new ApiError('invalid_request', 'The body must have either offsetSeconds or increaseSeconds.');
}

/** `POST /starknet/block-time` `{seconds, l1AfterBlocks?}`; 0 seconds: a block for every transaction, at once. */
export function readBlockTime(value: unknown): Command {
  const body = readBody(value);
  const seconds = readWhole(body, 'seconds', 0, MAX_BLOCK_SECONDS);
  const l1AfterBlocks = readOptionalWhole(body, 'l1AfterBlocks', 0, MAX_L1_AFTER_BLOCKS);
  return { do: 'set-block-time', seconds, ...(l1AfterBlocks !== undefined && { l1AfterBlocks }) };
}

/** `POST /starknet/reorg` `{blocks, transactions}`, transactions `drop` or `requeue`. */
export function readReorganisation(value: unknown): Command {
  const body = readBody(value);
  return {
    do: 'reorganise',
    blocks: readWhole(body, 'blocks', 1, MAX_REORGANISED_BLOCKS),
    transactions: readOneOf(body, 'transactions', ['drop', 'requeue']),
  };
}

/**
 * `POST /starknet/faults` `{kind, method?, count?, seconds?}` and what the kind takes: `reason`, `delayMs`, `code` and
 * `message`, `blocks`. Without count and seconds it happens once, within an hour.
 */
export function readFault(value: unknown): NewFault {
  const body = readBody(value);
  const kind = readOneOf(body, 'kind', faultKinds);
  const method = readOptionalText(body, 'method', MAX_TEXT);
  const count = readOptionalWhole(body, 'count', 1, MAX_FAULT_COUNT);
  const seconds = readOptionalWhole(body, 'seconds', 1, MAX_FAULT_SECONDS);
  const times = count ?? (seconds === undefined ? 1 : undefined);
  return {
    kind,
    ...(method !== undefined && { method }),
    ...(times !== undefined && { count: times }),
    seconds: seconds ?? DEFAULT_FAULT_SECONDS,
    ...readParameters(kind, body),
  };
}

function readParameters(kind: NewFault['kind'], body: Body): Partial<NewFault> {
  switch (kind) {
    case 'revert':
    case 'reject':
      return body.reason === undefined ? {} : { reason: readText(body, 'reason', MAX_TEXT) };
    case 'slow':
      return { delayMs: readWhole(body, 'delayMs', 1, MAX_DELAY_MS) };
    case 'error':
      return {
        code: readWhole(body, 'code', -MAX_CODE, MAX_CODE),
        message: readText(body, 'message', MAX_TEXT),
      };
    case 'stale':
      return { blocks: readWhole(body, 'blocks', 1, MAX_REORGANISED_BLOCKS) };
    case 'forget':
    case 'lose-answer':
    case 'unavailable':
      return {};
  }
}
