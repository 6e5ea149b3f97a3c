import { type Call, toHex } from '@svc/starknet';
import { invocation, type RpcAnswer, type ShownAccount } from '../../support/sandbox.ts';

export interface Receipt {
  readonly execution_status: 'SUCCEEDED' | 'REVERTED';
  readonly revert_reason?: string;
  readonly events: readonly { readonly from_address: string; readonly keys: string[]; readonly data: string[] }[];
}

export interface Invocation {
  readonly result: readonly string[];
  readonly calls: readonly Invocation[];
}

export type Sent =
  | { readonly hash: string; readonly receipt: Receipt; readonly execution?: Invocation }
  | { readonly refused: string };

/** Where scenarios run: the sandbox, or a node with the real Cairo VM. */
export interface ScenarioNode {
  rpc(method: string, params: unknown): Promise<RpcAnswer>;
  /** Every later transaction and call sees this time. */
  setClock(timestamp: number): Promise<void>;
}

export class Chain {
  readonly node: ScenarioNode;
  readonly #nonces = new Map<string, number>();

  constructor(node: ScenarioNode) {
    this.node = node;
  }

  async must<T>(method: string, params: unknown): Promise<T> {
    const { result, error } = await this.node.rpc(method, params);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as T;
  }

  ask(call: Call): Promise<RpcAnswer> {
    const request = {
      contract_address: toHex(call.to),
      entry_point_selector: toHex(call.selector),
      calldata: call.calldata.map(toHex),
    };
    return this.node.rpc('call', { request, block_id: 'pre_confirmed' });
  }

  /** Signed with the sender's key unless a signature is derived from the hash. */
  async send(
    from: Pick<ShownAccount, 'address' | 'privateKey'>,
    calls: readonly Call[],
    sign?: (hash: string) => bigint[],
  ): Promise<Sent> {
    const nonce = await this.#nonce(from.address);
    const { hash, body } = invocation(from, nonce, calls);
    const request = JSON.parse(body) as { params: [{ signature: string[] }] };
    if (sign) request.params[0].signature = sign(hash).map(toHex);
    const { error } = await this.node.rpc('addInvokeTransaction', request.params);
    if (error) return { refused: String(error.data) };
    this.#nonces.set(from.address, nonce + 1);
    const receipt = await this.must<Receipt>('getTransactionReceipt', [hash]);
    if (receipt.execution_status === 'REVERTED') return { hash, receipt };
    const trace = await this.must<{ execute_invocation: Invocation }>('traceTransaction', [hash]);
    return { hash, receipt, execution: trace.execute_invocation };
  }

  async #nonce(address: string): Promise<number> {
    return this.#nonces.get(address) ?? Number(await this.must<string>('getNonce', ['pre_confirmed', address]));
  }
}
