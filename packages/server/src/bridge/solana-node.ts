import type { Rpc, RpcTransport, SolanaRpcApi } from '@solana/kit';
import { parseSolanaAddress, type SolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { ChainUnavailableError, type IsAnswer, NODE_TIMEOUT_MS, nodeFetch } from '../chains/node-fetch.ts';
import { type NodeHealth, Nodes, nodeErrorText } from '../chains/nodes.ts';
import { type MintCheck, solanaAddressOf, tokenAccountOf } from './bridge.ts';
import { SOLANA_MESSAGE_TRANSMITTER } from './cctp-message.ts';

export interface ClaimedMint {
  /** As the bridge names it. */
  readonly signature: string;
  /** Of the attested message, 32 bytes in hex. */
  readonly nonce: string;
  readonly owner: SolanaAddress;
  readonly mint: SolanaAddress;
  /** At least so much, in the smallest unit. */
  readonly amount: bigint;
}

export interface SolanaNodesOptions {
  readonly urls: readonly string[];
  /** The hash of the first block; undefined: any chain will do. */
  readonly genesis: string | undefined;
}

/** Every error is the node's own trouble: another one may answer. */
const noAnswer: IsAnswer = () => false;

/** Reads transactions of Solana, from the first node that shows what is looked for. */
export class SolanaNodes {
  readonly #nodes: Nodes<SolanaClient>;

  constructor({ urls, genesis }: SolanaNodesOptions) {
    this.#nodes = new Nodes({
      chain: 'Solana',
      urls,
      connect: (url) => new SolanaClient(url),
      chainId: genesis === undefined ? ANY_CHAIN : genesisNumber(genesis),
      chainIdOf: async (client) => (genesis === undefined ? ANY_CHAIN : genesisNumber(await client.genesisHash())),
      isAnswer: () => false,
    });
  }

  checkChain(): Promise<readonly NodeHealth[]> {
    return this.#nodes.check();
  }

  /** Throws `chain_unavailable` when no node answers. A node that is behind does not outvote one that has the transaction. */
  async checkMint(claimed: ClaimedMint): Promise<MintCheck> {
    const { isSignature } = await import('@solana/kit');
    if (!isSignature(claimed.signature)) return notCredited('it is no signature of a transaction');
    let answer: MintCheck | undefined;
    const failures: unknown[] = [];
    for (const node of this.#nodes.inOrder()) {
      try {
        await this.#nodes.admit(node);
        const found = await node.client.checkMint(claimed);
        if (found.credited) return found;
        answer ??= found;
      } catch (error) {
        this.#nodes.rest(node);
        failures.push(error);
      }
    }
    if (answer) return answer;
    const why = failures.map(nodeErrorText).join('; ');
    throw new ChainUnavailableError('Solana', { cause: new AggregateError(failures, why) });
  }
}

const ANY_CHAIN = 0n;

function genesisNumber(hash: string): bigint {
  const bytes = parseSolanaAddress(hash);
  if (!bytes.ok) throw new Error('The hash of the first block cannot be read.');
  return BigInt(`0x${Buffer.from(solanaAddressBytes(bytes.value)).toString('hex')}`);
}

const notCredited = (reason: string): MintCheck => ({ credited: false, reason });

class SolanaClient {
  readonly #url: string;
  #rpc: Promise<Rpc<SolanaRpcApi>> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async genesisHash(): Promise<string> {
    return (await this.#connect()).getGenesisHash().send();
  }

  /** Only a transaction that carries the message of this burn counts: another mint to the same wallet proves nothing. */
  async checkMint({ signature: claimed, nonce, owner, mint, amount }: ClaimedMint): Promise<MintCheck> {
    const { signature, getBase58Encoder } = await import('@solana/kit');
    const found = await (await this.#connect())
      .getTransaction(signature(claimed), {
        commitment: 'confirmed',
        encoding: 'jsonParsed',
        maxSupportedTransactionVersion: 0,
      })
      .send();
    if (found === null) return notCredited('Solana does not show it as confirmed');
    const { transaction, meta } = found;
    if (transaction.signatures[0] !== claimed || meta === null) {
      throw new Error('The node answered with another transaction, or without its effects.');
    }
    if (meta.err !== null) return notCredited('it failed on Solana');
    const nonceBytes = Buffer.from(nonce.replace(/^0x/, ''), 'hex');
    const base58 = getBase58Encoder();
    const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
    const carriesMessage = [...transaction.message.instructions, ...inner].some(
      (instruction) =>
        String(instruction.programId) === SOLANA_MESSAGE_TRANSMITTER &&
        'data' in instruction &&
        Buffer.from(base58.encode(instruction.data)).includes(nonceBytes),
    );
    if (!carriesMessage) return notCredited('it does not carry the message of this burn');
    const account = solanaAddressOf(tokenAccountOf(owner, mint));
    const index = transaction.message.accountKeys.findIndex(({ pubkey }) => String(pubkey) === account);
    const balanceIn = (balances: typeof meta.postTokenBalances): bigint => {
      const entry = balances?.find((each) => Number(each.accountIndex) === index && String(each.mint) === mint);
      return entry ? BigInt(entry.uiTokenAmount.amount) : 0n;
    };
    const credited = balanceIn(meta.postTokenBalances) - balanceIn(meta.preTokenBalances);
    if (index < 0 || credited < amount) {
      return notCredited(`it credits the wallet with ${index < 0 ? 0n : credited} of ${amount} units of USDC`);
    }
    return { credited: true };
  }

  /** The library is loaded with the first question. */
  #connect(): Promise<Rpc<SolanaRpcApi>> {
    this.#rpc ??= import('@solana/kit').then(({ createSolanaRpcFromTransport }) =>
      createSolanaRpcFromTransport(transportTo(this.#url)),
    );
    return this.#rpc;
  }
}

function transportTo(url: string): RpcTransport {
  const fetch = nodeFetch(NODE_TIMEOUT_MS, noAnswer);
  const headers = { 'content-type': 'application/json' };
  return async <T>({ payload }: { readonly payload: unknown }): Promise<T> => {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) });
    return (await response.json()) as T;
  };
}
