import { ArrowLeftRight, Gift, type LucideIcon, Wallet } from 'lucide-react';
import { request } from './api.ts';

export interface Hit {
  readonly label: string;
  /** Beside the label, such as an address or an amount. */
  readonly note?: string;
  /** A path below `/dashboard`. */
  readonly to: string;
}

export interface Search {
  /** The heading of its hits: a page of the sidebar. */
  readonly page: 'wallets' | 'transactions' | 'gifts';
  readonly icon: LucideIcon;
  /** Text is trimmed and not empty. */
  readonly find: (text: string, signal: AbortSignal) => Promise<readonly Hit[]>;
}

const LIMIT = 5;
const ADDRESS_END = 6;

/** What the palette finds besides pages. */
export const searches: readonly Search[] = [
  { page: 'wallets', icon: Wallet, find: findWallets },
  { page: 'transactions', icon: ArrowLeftRight, find: findTransactions },
  { page: 'gifts', icon: Gift, find: findGifts },
];

async function findWallets(search: string, signal: AbortSignal): Promise<Hit[]> {
  const { data } = await request('GET /svc-wallets', { query: { search, limit: LIMIT } }, signal);
  return data.map(({ id, externalUserId, publicKey }) => ({
    label: externalUserId,
    note: short(publicKey),
    to: `/wallets/${id}`,
  }));
}

async function findTransactions(search: string, signal: AbortSignal): Promise<Hit[]> {
  const { data } = await request('GET /transactions', { query: { search, limit: LIMIT } }, signal);
  return data.map(({ id, transactionHash, type = '', functionName }) => ({
    label: short(transactionHash),
    note: [type, functionName].filter(Boolean).join(' · '),
    to: `/transactions/${id}`,
  }));
}

async function findGifts(search: string, signal: AbortSignal): Promise<Hit[]> {
  const { data } = await request('GET /gifts', { query: { search, limit: LIMIT } }, signal);
  return data.map(({ id, code, name, amount, token }) => ({
    label: code === '' ? name : `${code} · ${name}`,
    note: `${amount} ${token}`,
    to: `/gifts/${id}`,
  }));
}

const short = (value: string) => `${value.slice(0, ADDRESS_END)}…${value.slice(-ADDRESS_END)}`;
