import { ApiError, type Chain, formatTokenAmount } from '@svc/protocol';
import type { Token } from '../chains/tokens.ts';
import type { ExpectedTransfer } from './expected-transfer.ts';
import type { SeenTransfer } from './seen-transaction.ts';

/** More would not help anyone to see the mistake. */
const MAX_NAMED = 3;

/** What requests call the parts of a transfer. */
export interface FieldNames {
  readonly token: string;
  readonly sender: string;
  readonly recipient: string;
}

const EXPECTED: FieldNames = { token: 'expectedToken', sender: 'expectedSender', recipient: 'expectedRecipient' };

/** The first transfer that is as expected, or a `transaction_mismatch` that names the first field that is not, and what was found. */
export function requireTransfer(
  expected: ExpectedTransfer,
  transfers: readonly SeenTransfer[],
  tokens: readonly Token[],
): SeenTransfer {
  const { token, amount } = expected;
  const between = requireTransfers(expected, transfers, tokens, EXPECTED);
  const found = between.find((transfer) => transfer.amount === amount);
  if (found) return found;
  const amounts = between.map((transfer) => formatTokenAmount(transfer.amount, token.decimals));
  return mismatch('expectedAmount', `the transaction moved ${named(amounts)} ${token.token}`);
}

/** Every transfer of the token from the one to the other, at least one, whatever its amount. */
export function requireTransfers(
  { chain, token, sender, recipient }: Omit<ExpectedTransfer, 'hash' | 'amount'>,
  transfers: readonly SeenTransfer[],
  tokens: readonly Token[],
  fields: FieldNames,
): SeenTransfer[] {
  const coin = token.token;
  const ofToken = transfers.filter((transfer) => transfer.token === numberOf(token));
  if (ofToken.length === 0) {
    const others = named(transfers.map((transfer) => nameOf(chain, transfer.token, tokens)));
    mismatch(
      fields.token,
      others ? `the transaction moves ${others}, not ${coin}` : `the transaction moves no ${coin}`,
    );
  }
  const fromSender = ofToken.filter(({ from }) => from === BigInt(sender));
  if (fromSender.length === 0) {
    mismatch(fields.sender, `the ${coin} came from ${named(ofToken.map(({ from }) => addressText(chain, from)))}`);
  }
  const toRecipient = fromSender.filter(({ to }) => to === BigInt(recipient));
  if (toRecipient.length === 0) {
    mismatch(fields.recipient, `the ${coin} went to ${named(fromSender.map(({ to }) => addressText(chain, to)))}`);
  }
  return toRecipient;
}

const numberOf = ({ address }: Token) => (address === null ? undefined : BigInt(address));

function named(found: readonly string[]): string {
  const distinct = [...new Set(found)];
  const more = distinct.length > MAX_NAMED ? ' and others' : '';
  return distinct.slice(0, MAX_NAMED).join(', ') + more;
}

function nameOf(chain: Chain, address: bigint | undefined, tokens: readonly Token[]): string {
  const known = tokens.find((token) => numberOf(token) === address)?.token;
  return known ?? (address === undefined ? 'its own coin' : addressText(chain, address));
}

function addressText(chain: Chain, address: bigint): string {
  return `0x${address.toString(16).padStart(chain === 'STARKNET' ? 64 : 40, '0')}`;
}

function mismatch(field: string, found: string): never {
  throw new ApiError('transaction_mismatch', `${field} does not match: ${found}.`);
}
