import { formatAmount } from './amounts.ts';
import type { Account } from './backend.ts';
import { find } from './page.ts';

export interface Balance {
  readonly raw: bigint;
  readonly decimals: number;
}

const ROWS = 10;
/** Reads the list again while a transaction is pending. */
const REFRESH_MS = 2_000;
/** Longer addresses are shortened. */
const FULL_ADDRESS_LENGTH = 14;
let lastRefresh = 0;
let refreshTimer: ReturnType<typeof setTimeout> | undefined;
type Entry = Awaited<ReturnType<Account['svc']['getTransactionList']>>['items'][number];

const statusTexts: Record<Entry['status'], string> = {
  PENDING: 'On its way',
  PROCESSING: 'On its way',
  SUCCESS: 'Done',
  FAILED: 'Failed',
  CANCELLED: 'Cancelled',
};

export async function refresh(account: Account): Promise<Balance> {
  const { svc, wallet } = account;
  lastRefresh += 1;
  const turn = lastRefresh;
  const { publicKey } = wallet;
  // Finds incoming transfers on the chain, so that they are in the list.
  await svc.syncOnChain({ walletAddress: publicKey });
  const [{ balance, decimals }, { items }] = await Promise.all([
    svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', walletPublicKey: publicKey }),
    svc.getTransactionList({ walletAddress: publicKey, limit: ROWS }),
  ]);
  const raw = BigInt(balance);
  // A slow answer must not replace the answer to a later question.
  if (turn !== lastRefresh) return { raw, decimals };
  find('balance', HTMLOutputElement).value = formatAmount(raw, decimals);
  const rows = items.map((entry) => row(entry, publicKey, decimals));
  find('activity', HTMLUListElement).replaceChildren(...rows);
  find('no-activity', HTMLElement).hidden = rows.length > 0;
  clearTimeout(refreshTimer);
  if (items.some(({ status }) => statusTexts[status] === statusTexts.PENDING)) {
    refreshTimer = setTimeout(() => refresh(account).catch(() => undefined), REFRESH_MS);
  }
  return { raw, decimals };
}

function row(entry: Entry, own: string, decimals: number): HTMLLIElement {
  const received = BigInt(entry.destinationAddress) === BigInt(own);
  const item = document.createElement('li');
  item.append(
    element('span', received ? 'Received' : 'Sent'),
    element('span', amountOf(entry, received, decimals), received ? 'amount in' : 'amount'),
    element('small', received ? `from ${short(entry.senderAddress)}` : `to ${short(entry.destinationAddress)}`),
    element('small', statusTexts[entry.status]),
  );
  return item;
}

function amountOf({ amount, token }: Entry, received: boolean, decimals: number): string {
  if (amount === undefined || token !== 'USDC') return token ?? '';
  return `${received ? '+' : '−'}${formatAmount(BigInt(amount), decimals)} USDC`;
}

function short(address: string): string {
  const text = `0x${BigInt(address).toString(16)}`;
  // Minted tokens come from the zero address.
  if (text === '0x0') return 'the faucet';
  return text.length <= FULL_ADDRESS_LENGTH ? text : `${text.slice(0, 8)}…${text.slice(-4)}`;
}

function element(tag: string, text: string, className = ''): HTMLElement {
  const created = document.createElement(tag);
  created.textContent = text;
  created.className = className;
  return created;
}
