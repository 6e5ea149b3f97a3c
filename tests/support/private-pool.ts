import { chainIds, selector, toHex } from '@svc/starknet';
import {
  encodeFund,
  encodeTransfer,
  encodeWithdraw,
  type ProofContext,
  proveFund,
  proveTransfer,
  proveWithdraw,
  publicPoint,
} from '@svc/starknet/private-balance';
import { TONGO_USDC } from '../../packages/server/src/chains/private-pool.ts';
import type { ContractCall, Owner } from './app.ts';
import type { Sandbox } from './sandbox.ts';
import { STRK, USDC } from './starknet-client.ts';

export const POOL = TONGO_USDC;
const BITS = 32;
const hint = { ciphertext: 7n, nonce: 1n };

export const setTerms = (sandbox: Sandbox, terms: object): Promise<unknown> => sandbox.ask('/starknet/pool', terms);

export const poolCall = (entrypoint: string, calldata: readonly bigint[]): ContractCall => ({
  contractAddress: POOL,
  entrypoint,
  calldata: calldata.map(toHex),
});

export const approval = (token: string, amount: bigint): ContractCall => ({
  contractAddress: token,
  entrypoint: 'approve',
  calldata: [POOL, toHex(amount), '0x0'],
});

export const feeApproval = (strk: bigint): ContractCall => approval(STRK, strk * 10n ** 18n);

/** A private account whose key is its wallet's. */
export class PrivateAccount {
  readonly #sandbox: Sandbox;
  readonly #wallet: Owner;
  readonly #key: bigint;

  constructor(sandbox: Sandbox, wallet: Owner) {
    this.#sandbox = sandbox;
    this.#wallet = wallet;
    this.#key = BigInt(wallet.privateKey);
  }

  get point() {
    return publicPoint(this.#key);
  }

  async #context(ahead = 0n): Promise<ProofContext> {
    const { x, y } = this.point;
    const request = {
      contract_address: POOL,
      entry_point_selector: toHex(selector('get_state')),
      calldata: [toHex(x), toHex(y)],
    };
    const { result } = await this.#sandbox.rpc('call', { request, block_id: 'pre_confirmed' });
    const felts = (result as string[]).map(BigInt);
    const at = (index: number) => ({ x: felts[index] ?? 0n, y: felts[index + 1] ?? 0n });
    const nonce = (felts[8] ?? 0n) + ahead;
    const sender = BigInt(this.#wallet.address);
    const balance = { L: at(0), R: at(2) };
    return { chainId: chainIds.SVC_SANDBOX, pool: BigInt(POOL), sender, nonce, balance, bits: BITS };
  }

  /** Several amounts are a batch. A proof binds the amount: `claimed` is another one. */
  async shield(amounts: readonly bigint[], claimed?: bigint): Promise<ContractCall[]> {
    const total = amounts.reduce((sum, amount) => sum + amount, 0n);
    const calls = [approval(USDC, total)];
    for (const [index, amount] of amounts.entries()) {
      const fund = { ...proveFund(await this.#context(BigInt(index)), this.#key, amount), hint };
      calls.push(poolCall('fund', encodeFund({ ...fund, amount: claimed ?? amount })));
    }
    return calls;
  }

  async unshield(balance: bigint, amount: bigint, to: string): Promise<ContractCall> {
    const proof = proveWithdraw(await this.#context(), this.#key, { balance, amount, to: BigInt(to) });
    return poolCall('withdraw', encodeWithdraw({ ...proof, hint }));
  }

  async transfer(balance: bigint, amount: bigint, to: PrivateAccount): Promise<ContractCall> {
    const proof = proveTransfer(await this.#context(), this.#key, { balance, amount, to: to.point });
    return poolCall('transfer', encodeTransfer({ ...proof, hintTransfer: hint, hintLeftover: hint }));
  }
}
