import { ChainUnavailableError, failureIn, NodeFailure, WrongChainError } from './node-fetch.ts';

/** A node that failed is asked last for this long, so that a dead first address does not cost every read its timeout. */
const REST_MS = 30_000;

export interface Node<T> {
  /** Its place in the configuration. */
  readonly index: number;
  /** The host alone: the rest of an address often holds a key. */
  readonly host: string;
  readonly client: T;
}

export interface NodeHealth {
  readonly host: string;
  /** Why it did not answer; undefined when it did. */
  readonly trouble: string | undefined;
}

export interface NodesOptions<T> {
  /** What the operator calls the chain, for messages. */
  readonly chain: string;
  readonly urls: readonly string[];
  readonly connect: (url: string) => T;
  readonly chainId: bigint;
  /** Which chain a node says it is on. */
  readonly chainIdOf: (client: T) => Promise<bigint>;
  /** Whether an error is the chain's answer, which every other node would give as well. */
  readonly isAnswer: (error: unknown) => boolean;
  readonly now?: () => number;
}

/** The nodes of one chain: a read goes to the first that answers. */
export class Nodes<T> {
  readonly #chain: string;
  readonly #nodes: readonly Node<T>[];
  readonly #chainId: bigint;
  readonly #chainIdOf: (client: T) => Promise<bigint>;
  readonly #isAnswer: (error: unknown) => boolean;
  readonly #now: () => number;
  readonly #restsUntil = new Map<number, number>();
  readonly #admitted = new Set<number>();

  constructor({ chain, urls, connect, chainId, chainIdOf, isAnswer, now = Date.now }: NodesOptions<T>) {
    if (urls.length === 0) throw new RangeError(`${chain} needs the address of a node.`);
    this.#chain = chain;
    this.#nodes = urls.map((url, index) => ({ index, host: new URL(url).host, client: connect(url) }));
    this.#chainId = chainId;
    this.#chainIdOf = chainIdOf;
    this.#isAnswer = isAnswer;
    this.#now = now;
  }

  /** As configured, with those that failed lately at the end. */
  inOrder(): readonly Node<T>[] {
    const now = this.#now();
    const rests = ({ index }: Node<T>) => (this.#restsUntil.get(index) ?? 0) > now;
    return [...this.#nodes.filter((node) => !rests(node)), ...this.#nodes.filter(rests)];
  }

  rest({ index }: Node<T>): void {
    this.#restsUntil.set(index, this.#now() + REST_MS);
  }

  /** Asking again is safe because reads change nothing. */
  read<R>(ask: (node: Node<T>) => Promise<R>): Promise<R> {
    return this.#firstOf(this.inOrder(), ask);
  }

  /** For what only the node that began it can continue. */
  readFrom<R>(index: number, ask: (node: Node<T>) => Promise<R>): Promise<R> {
    return this.#firstOf(
      this.#nodes.filter((node) => node.index === index),
      ask,
    );
  }

  async #firstOf<R>(nodes: readonly Node<T>[], ask: (node: Node<T>) => Promise<R>): Promise<R> {
    const failures: unknown[] = [];
    for (const node of nodes) {
      try {
        await this.admit(node);
        const answer = await ask(node);
        this.#restsUntil.delete(node.index);
        return answer;
      } catch (error) {
        if (this.#isAnswer(error)) throw error;
        this.rest(node);
        failures.push(error);
      }
    }
    const why = failures.map(nodeErrorText).join('; ');
    throw new ChainUnavailableError(this.#chain, { cause: new AggregateError(failures, why) });
  }

  /** Nothing is asked of a node or sent to it before it has said that it is on our chain, also when it was away at the start. */
  async admit({ index, host, client }: Node<T>): Promise<void> {
    if (this.#admitted.has(index)) return;
    const found = await this.#chainIdOf(client).catch((error: unknown) => {
      throw new NodeFailure(nodeErrorText(error), { unclear: false, cause: error });
    });
    if (found !== this.#chainId) {
      throw new WrongChainError(
        `${host} is a node of chain ${show(found)}, but ${this.#chain} is chain ${show(this.#chainId)}. Check its address.`,
      );
    }
    this.#admitted.add(index);
  }

  /** Asks every node which chain it is on. One on a wrong chain is an error, one that does not answer is not. */
  check(): Promise<readonly NodeHealth[]> {
    return Promise.all(
      this.#nodes.map(async (node) => {
        this.#admitted.delete(node.index);
        const trouble = await this.admit(node).then(
          () => undefined,
          (error: unknown) => {
            if (error instanceof WrongChainError) throw error;
            this.rest(node);
            return nodeErrorText(error);
          },
        );
        return { host: node.host, trouble };
      }),
    );
  }
}

const show = (chainId: bigint) => `0x${chainId.toString(16)}`;

/** For the log. Other errors than ours may quote the address, so of these only the kind is told. */
export function nodeErrorText(error: unknown): string {
  if (error instanceof WrongChainError) return error.message;
  return (
    failureIn(error)?.message ?? `the answer could not be read (${error instanceof Error ? error.name : 'unknown'})`
  );
}
