import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { selector, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { type CreatedGift, field } from './app.ts';
import { type Reply, send } from './client.ts';
import { eventually } from './eventually.ts';
import { hurry } from './jobs.ts';
import { admin } from './operator.ts';
import type { Sandbox } from './sandbox.ts';
import type { ServerAddress } from './server.ts';
import type { AnyService } from './service.ts';
import { USDC } from './starknet-client.ts';

export const chains = ['starknet', 'solana'] as const;
export type RedeemChain = (typeof chains)[number];

export interface Claim {
  readonly code: string;
  readonly chain: RedeemChain;
  readonly walletAddress: string;
  /** An Idempotency-Key. */
  readonly key?: string;
}

/** Below the 252 bits of a felt. */
const ADDRESS_BYTES = 31;

export const newWallet = (chain: RedeemChain): string =>
  chain === 'solana' ? newSolanaWallet() : `0x${randomBytes(ADDRESS_BYTES).toString('hex')}`;

export function claimAt(server: ServerAddress, { code, chain, walletAddress, key }: Claim): Promise<Reply> {
  return send(`${server.credentials.baseUrl}/gifts/claim/${code}/redeem`, {
    method: 'POST',
    body: { walletAddress, chain },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const KEY_BYTES = 32;
/** The machine may be busy. */
const END_MS = 90_000;

export interface RedeemEnd {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly address: string;
  readonly amount: bigint;
  readonly share: bigint;
  readonly burned: bigint;
}

/** In base58. */
export function newSolanaWallet(): string {
  const key = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-KEY_BYTES);
  let value = BigInt(`0x${key.toString('hex')}`);
  let text = '';
  for (; value > 0n; value /= 58n) text = `${ALPHABET[Number(value % 58n)]}${text}`;
  const zeros = key.findIndex((byte) => byte !== 0);
  return '1'.repeat(Math.max(zeros, 0)) + text;
}

export class GiftFixture {
  readonly service: AnyService;
  readonly sandbox: Sandbox;

  constructor(service: AnyService) {
    this.service = service;
    this.sandbox = service.sandbox;
  }

  /** Removes faults and delays: burns are attested and minted at once. */
  async removeFaults(): Promise<void> {
    await this.sandbox.ask('/starknet/faults', undefined, 'DELETE');
    await this.clearFaults();
    const none = { indexedSeconds: 0, fastSeconds: 0, standardSeconds: 0, forwardSeconds: 0 };
    await this.sandbox.ask('/bridge/settings', { ...none, requestsPerSecond: 1_000_000 });
  }

  order(fault: object): Promise<unknown> {
    return this.sandbox.ask('/bridge/faults', fault);
  }

  clearFaults(): Promise<unknown> {
    return this.sandbox.ask('/bridge/faults', undefined, 'DELETE');
  }

  gift(changes: object = {}): Promise<CreatedGift> {
    return this.service.gift({ cctpFast: true, ...changes });
  }

  redeem(code: string, walletAddress: string, server: ServerAddress = this.service.server): Promise<Reply> {
    const body = { walletAddress, chain: 'solana' };
    return send(`${server.credentials.baseUrl}/gifts/claim/${code}/redeem`, { method: 'POST', body });
  }

  async started(code: string, wallet = newSolanaWallet()): Promise<string> {
    const reply = await this.redeem(code, wallet);
    if (reply.status !== 202) throw new Error(reply.text);
    return (reply.body as { redeemId: string }).redeemId;
  }

  async status(code: string, redeemId: string): Promise<Record<string, unknown>> {
    const reply = await send(`${this.service.server.credentials.baseUrl}/gifts/claim/${code}/status/${redeemId}`);
    return reply.body as Record<string, unknown>;
  }

  /** The status in which a redeem ends. The bridge is asked at once, in place of every two seconds. */
  ended(code: string, redeemId: string): Promise<Record<string, unknown>> {
    const isOver = ({ status }: Record<string, unknown>) => status === 'SUCCESS' || status === 'FAILED';
    const hurried = async () => {
      await hurry(this.service.db, redeemId);
      return this.status(code, redeemId);
    };
    return eventually(hurried, isOver, END_MS);
  }

  async onSolana(wallet: string): Promise<bigint> {
    return BigInt((await this.sandbox.ask<{ balance: string }>(`/bridge/solana/accounts/${wallet}`)).balance);
  }

  allEnded(giftId: string): Promise<RedeemEnd[]> {
    const rows = () =>
      this.service.database.db.rows<RedeemEnd>(sql`
        select id, status, reason, address, amount_micros as amount, share_micros as share,
               amount_micros + coalesce((bridge ->> 'maxFee')::bigint, 0) as burned
          from gift_redeems where gift_id = ${giftId}`);
    const areOver = (all: RedeemEnd[]) => all.every(({ status }) => status === 'SUCCESS' || status === 'FAILED');
    return eventually(rows, areOver, END_MS);
  }

  async resume(redeemId: string): Promise<Record<string, unknown>> {
    return admin(this.service, 'resume-redeem', redeemId);
  }

  async managerBalance(): Promise<bigint> {
    const { address } = await this.sandbox.account('manager');
    const calldata = {
      contract_address: USDC,
      entry_point_selector: toHex(selector('balanceOf')),
      calldata: [address],
    };
    const { result } = await this.sandbox.rpc('call', [calldata, 'latest']);
    const [low = '0'] = (result ?? []) as string[];
    return BigInt(low);
  }

  async balances(): Promise<{ totalUsd: number; availableUsd: number; heldUsd: number }> {
    return field<{ totalUsd: number; availableUsd: number; heldUsd: number }>(
      await this.service.app.get('/organization'),
      'balance',
    );
  }
}
