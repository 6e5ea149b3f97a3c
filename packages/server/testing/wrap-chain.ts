import type { StarknetChain } from '../src/chains/starknet/chain.ts';

/** A chain that answers as another one does, but for some methods. */
export function wrapChain(chain: StarknetChain, changes: Partial<StarknetChain>): StarknetChain {
  return new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A chain that notes what it is asked. */
export function notedChain(chain: StarknetChain, asked: string[]): StarknetChain {
  return new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        asked.push(String(name));
        return value.apply(target, given) as unknown;
      };
    },
  });
}

/** Pages of a few events each, and something that happens after a page. */
export function smallPages(
  chain: StarknetChain,
  limit: number,
  afterPage: (page: number) => void | Promise<void> = () => {},
): StarknetChain {
  let pages = 0;
  return wrapChain(chain, {
    events: async (filter) => {
      const page = await chain.events({ ...filter, limit });
      pages += 1;
      await afterPage(pages);
      return page;
    },
  });
}
