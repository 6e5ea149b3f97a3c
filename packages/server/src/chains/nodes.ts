import { ChainUnavailableError, failureIn, NodeFailure, WrongChainError } from './node-fetch.ts';

/** A failed node is asked last for this long, so that a dead first address does not cost every read its timeout. */
const REST_MS = 30_000;

export interface Node<T> {
  readonly index: number;
  /** The host only: URLs may hold API keys. */
  readonly host: string;
  readonly client: T;
}

export interface NodeHealth {
  readonly host: string;
  readonly trouble: string | undefined;
}

export interface NodesOptions<T> {
  readonly chain: string;
  readonly urls: readonly string[];
  readonly connect: (url: string) => T;
  readonly chainId: bigint;
  readonly chainIdOf: (client: T) => Promise<bigint>;
  readonly isAnswer: (error: unknown) => boolean;
  readonly now?: () => number;
}

export class Nodes<T> {
  readonly #chain: string;
  readonly #nodes: readonly Node<T>[];
  readonly #chainId: bigint;
  readonly #chainIdOf: (client: T) => Promise<bigint>;
  readonly #isAnswer: (error: unknown) => boolean;
  readonly #now: () => number;
  readonly #restsUntil = new Map<number, number>();
  readonly #admitted = new Set<number>();
  readonly #admitting = new Map<number, Promise<void>>();

  constructor({ chain, urls, connect, chainId, chainIdOf, isAnswer, now = Date.now }: NodesOptions<T>) {
    if (urls.length === 0) throw new RangeError(`${chain} needs the address of a node.`);
    this.#chain = chain;
    this.#nodes = urls.map((url, index) => ({ index, host: new URL(url).host, client: connect(url) }));
    this.#chainId = chainId;
    this.#chainIdOf = chainIdOf;
    this.#isAnswer = isAnswer;
    this.#now = now;
  }

  inOrder(): readonly Node<T>[] {
    const now = this.#now();
    const rests = ({ index }: Node<T>) => (this.#restsUntil.get(index) ?? 0) > now;
    return [...this.#nodes.filter((node) => !rests(node)), ...this.#nodes.filter(rests)];
  }

  rest({ index }: Node<T>): void {
    this.#restsUntil.set(index, this.#now() + REST_MS);
  }

  read<R>(ask: (node: Node<T>) => Promise<R>): Promise<R> {
    return this.#firstOf(this.inOrder(), ask);
  }

  /** For continuations, which only the node that issued them knows. */
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

  /** A node has to show its chain id before its first use, also when it was away at the start. */
  async admit(node: Node<T>): Promise<void> {
    const { index } = node;
    if (this.#admitted.has(index)) return;
    const running = this.#admitting.get(index) ?? this.#askChain(node).finally(() => this.#admitting.delete(index));
    this.#admitting.set(index, running);
    await running;
  }

  async #askChain({ index, host, client }: Node<T>): Promise<void> {
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

  /** Throws for a node of a wrong chain; a node that does not answer is reported. */
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

/** For the log. Foreign errors may quote the URL, so only their kind is shown. */
export function nodeErrorText(error: unknown): string {
  if (error instanceof WrongChainError) return error.message;
  return (
    failureIn(error)?.message ?? `the answer could not be read (${error instanceof Error ? error.name : 'unknown'})`
  );
}
