import {
  type Call,
  chainIds,
  encodeCalls,
  type InvokeFields,
  invokeHash,
  type StarkSignature,
  selector,
  sign,
  starkKey,
  TRANSACTION_VERSION,
  toHex,
} from '@svc/starknet';
import { STRK } from './sandbox-client.ts';

const MODE = 'L1';
const bounds = {
  l1Gas: { maxAmount: 0n, maxPricePerUnit: 0n },
  l1DataGas: { maxAmount: 20_000n, maxPricePerUnit: 50_000n },
  l2Gas: { maxAmount: 200_000_000n, maxPricePerUnit: 10_000_000_000n },
};
const shown = ({ maxAmount, maxPricePerUnit }: { maxAmount: bigint; maxPricePerUnit: bigint }) => ({
  max_amount: toHex(maxAmount),
  max_price_per_unit: toHex(maxPricePerUnit),
});

export interface Sender {
  readonly address: string;
  readonly privateKey: string;
}

export interface Payment {
  readonly hash: string;
  readonly fields: InvokeFields;
  readonly publicKey: bigint;
  readonly signature: StarkSignature;
  /** The body of the JSON-RPC call that sends it. */
  readonly body: string;
}

/** A signed transfer of STRK as it goes over the wire, made without the library because a thousand are needed. */
export function payment(from: Sender, nonce: number, to: bigint, amount = 1n): Payment {
  return invocation(from, nonce, [{ to: BigInt(STRK), selector: selector('transfer'), calldata: [to, amount, 0n] }]);
}

export function invocation(from: Sender, nonce: number, calls: readonly Call[]): Payment {
  const fields = {
    version: TRANSACTION_VERSION,
    chainId: chainIds.SVC_SANDBOX,
    sender: BigInt(from.address),
    nonce: BigInt(nonce),
    tip: 0n,
    resourceBounds: bounds,
    paymasterData: [],
    accountDeploymentData: [],
    nonceDataAvailabilityMode: 0,
    feeDataAvailabilityMode: 0,
    calldata: encodeCalls(calls),
  } as const;
  const hash = invokeHash(fields);
  const privateKey = BigInt(from.privateKey);
  const signature = sign(hash, privateKey);
  const transaction = {
    type: 'INVOKE',
    version: toHex(fields.version),
    sender_address: from.address,
    calldata: fields.calldata.map(toHex),
    signature: [toHex(signature.r), toHex(signature.s)],
    nonce: toHex(fields.nonce),
    resource_bounds: { l1_gas: shown(bounds.l1Gas), l1_data_gas: shown(bounds.l1DataGas), l2_gas: shown(bounds.l2Gas) },
    tip: '0x0',
    paymaster_data: [],
    account_deployment_data: [],
    nonce_data_availability_mode: MODE,
    fee_data_availability_mode: MODE,
  };
  const request = { jsonrpc: '2.0', id: 1, method: 'starknet_addInvokeTransaction', params: [transaction] };
  const publicKey = starkKey(privateKey);
  return { hash: toHex(hash), fields, publicKey, signature, body: JSON.stringify(request) };
}

/** Whether it was acknowledged; a connection that breaks is no acknowledgement. */
export async function pay(rpcUrl: string, { hash, body }: Payment): Promise<boolean> {
  const response = await fetch(rpcUrl, { method: 'POST', body }).catch(() => undefined);
  const answer = (await response?.json().catch(() => undefined)) as { result?: { transaction_hash: string } };
  return answer?.result?.transaction_hash === hash;
}
