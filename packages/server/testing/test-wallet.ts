import type { ChainToken } from '@svc/protocol';
import {
  type Call,
  chainIds,
  classes,
  contractAddress,
  type OutsideExecution,
  outsideExecutionHash,
  selector,
  sign,
  starkKey,
} from '@svc/starknet';
import { findToken } from '../src/chains/tokens.ts';
import type { AccountDeployment, Sponsor, Sponsorship } from '../src/relayer/relay.ts';

/** A wallet of class SVC and its owner. */
export interface TestWallet {
  readonly address: bigint;
  readonly deployment: AccountDeployment;
  /** What the service is asked to pay for. */
  asks(execution: OutsideExecution, options?: { deploy?: boolean; kind?: Sponsorship['kind'] }): Sponsorship;
  prepared(sponsor: Sponsor, calls?: readonly Call[], options?: { deploy?: boolean }): Promise<Sponsorship>;
}

let keys = 0x5eedn;

export function newWallet(): TestWallet {
  keys += 1n;
  const privateKey = keys;
  const publicKey = starkKey(privateKey);
  const deployment = { classHash: classes.svc, salt: publicKey, constructorCalldata: [publicKey] };
  const address = contractAddress({ ...deployment, deployer: 0n });
  const asks: TestWallet['asks'] = (execution, { deploy = false, kind = deploy ? 'wallet' : 'calls' } = {}) => {
    const { r, s } = sign(outsideExecutionHash(2, execution, address, chainIds.SVC_SANDBOX), privateKey);
    return {
      environment: 'development',
      account: address,
      deployment: deploy ? deployment : undefined,
      execution,
      signature: [r, s],
      kind,
    };
  };
  const prepared: TestWallet['prepared'] = async (sponsor, calls = [], { deploy = false } = {}) => {
    const request = { account: address, deployment: deploy ? deployment : undefined, calls };
    return asks(await sponsor.prepare({ environment: 'development', ...request }), { deploy });
  };
  return { address, deployment, asks, prepared };
}

export function tokenAddress(token: ChainToken): bigint {
  return BigInt(findToken('sandbox', 'STARKNET', token)?.address ?? 0);
}

export function transferCall(token: ChainToken, to: bigint, amount: bigint): Call {
  return { to: tokenAddress(token), selector: selector('transfer'), calldata: [to, amount, 0n] };
}
