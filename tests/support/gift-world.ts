import { type App, field, hashOf, type Owner, transferOf } from './app.ts';
import type { Reply } from './client.ts';
import type { Sandbox } from './sandbox.ts';
import { USDC } from './sandbox-client.ts';

export interface WorldGift {
  readonly id: string;
  readonly code: string;
}

/** Credits, and what was made of them. */
export interface GiftWorld {
  /** The hash of a USDC transfer of a wallet to the payment address, credited to the organisation. */
  readonly deposit: string;
  /** One that can be redeemed as often as the examples do. */
  readonly gift: WorldGift;
  /** A redeem of it. */
  readonly redeem: { readonly id: string };
  /** Gifts that nobody misses. Whoever may delete one takes it out. */
  readonly disposable: WorldGift[];
}

const DEPOSITED = '800';
const DEPOSITED_RAW = 800_000_000n;
/** More than examples are made in a suite, whether they are admitted or not. */
const DISPOSABLE = 80;
const MANY_TIMES = 1_000;
let codes = 0;

export const newCode = (): string => {
  codes += 1;
  return `Example-${process.pid}-${Date.now()}-${codes}`;
};

/** The least that a gift is made with. */
export const giftBody = (changes: object = {}): object => {
  const limits = { maxRedeems: 1, maxRedeemsPerUser: 1, startsAt: '2026-01-01', isActive: true };
  return { code: newCode(), name: 'Navidad', amount: 0.5, cctpFast: false, ...limits, ...changes };
};

export async function prepareGifts(app: App, sandbox: Sandbox, owner: Owner, recipient: string): Promise<GiftWorld> {
  const deposit = await makeDeposit(app, sandbox, owner);
  const limits = { amount: 0.01, maxRedeems: MANY_TIMES, maxRedeemsPerUser: MANY_TIMES };
  const gift = await makeGift(app, limits);
  const redeemed = await app.post(`/gifts/claim/${gift.code}/redeem`, { walletAddress: recipient, chain: 'starknet' });
  const { giftRedeem } = created<{ giftRedeem: { id: string } }>(redeemed);
  const disposable = await Promise.all(Array.from({ length: DISPOSABLE }, () => makeGift(app)));
  return { deposit, gift, redeem: giftRedeem, disposable };
}

export async function makeGift(app: App, changes: object = {}): Promise<WorldGift> {
  return created<WorldGift>(await app.post('/gifts', giftBody(changes)));
}

async function makeDeposit(app: App, sandbox: Sandbox, owner: Owner): Promise<string> {
  await sandbox.faucet(owner.address, 'USDC', DEPOSITED);
  const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, paymentAddress, DEPOSITED_RAW)]));
  const reply = await app.post('/organization/deposits', { transactionHash, chain: 'STARKNET' });
  if (reply.status !== 200) throw new Error(reply.text);
  return transactionHash;
}

function created<T>(reply: Reply): T {
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
  return reply.body as T;
}
