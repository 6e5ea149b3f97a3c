import type { Account } from './account.ts';
import { formatAmount } from './amounts.ts';
import { find } from './page.ts';

export interface Balance {
  readonly raw: bigint;
  readonly decimals: number;
}

const SHOWN = 10;
/** Until what is on its way has arrived, the list is read again. */
const LOOK_AGAIN_MS = 2_000;
/** Longer addresses are cut in the middle. */
const WHOLE_ADDRESS = 14;
let lookingAgain: ReturnType<typeof setTimeout> | undefined;
type Entry = Awaited<ReturnType<Account['svc']['getTransactionList']>>['items'][number];

const words: Record<Entry['status'], string> = {
  PENDING: 'On its way',
  PROCESSING: 'On its way',
  SUCCESS: 'Done',
  FAILED: 'Failed',
  CANCELLED: 'Cancelled',
};

/** Reads the balance and the latest transactions, and shows them. */
export async function refresh(account: Account): Promise<Balance> {
  const { svc, wallet } = account;
  const { publicKey } = wallet;
  // What others sent is found on the chain first, so that it is in the list.
  await svc.syncOnChain({ walletAddress: publicKey });
  const [{ balance, decimals }, { items }] = await Promise.all([
    svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', walletPublicKey: publicKey }),
    svc.getTransactionList({ walletAddress: publicKey, limit: SHOWN }),
  ]);
  const raw = BigInt(balance);
  find('balance', HTMLOutputElement).value = formatAmount(raw, decimals);
  const rows = items.map((entry) => row(entry, publicKey, decimals));
  find('activity', HTMLUListElement).replaceChildren(...rows);
  find('no-activity', HTMLElement).hidden = rows.length > 0;
  clearTimeout(lookingAgain);
  if (items.some(({ status }) => words[status] === words.PENDING)) {
    lookingAgain = setTimeout(() => refresh(account).catch(() => undefined), LOOK_AGAIN_MS);
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
    element('small', words[entry.status]),
  );
  return item;
}

function amountOf({ amount, token }: Entry, received: boolean, decimals: number): string {
  if (amount === undefined || token !== 'USDC') return token ?? '';
  return `${received ? '+' : '−'}${formatAmount(BigInt(amount), decimals)} USDC`;
}

function short(address: string): string {
  const text = `0x${BigInt(address).toString(16)}`;
  // New tokens come from nowhere, which the chain writes as zero.
  if (text === '0x0') return 'the faucet';
  return text.length <= WHOLE_ADDRESS ? text : `${text.slice(0, 8)}…${text.slice(-4)}`;
}

function element(tag: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
}
