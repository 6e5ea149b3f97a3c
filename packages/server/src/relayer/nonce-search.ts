import type { SignedInvoke, StarknetChain } from '../chains/starknet/chain.ts';

type NonceAt = (block: number) => Promise<bigint>;

/** Without an index: bisects over the account's nonce. Nonces ascend. Dozens of reads for the first, few after it. */
export async function findTransactions(
  chain: StarknetChain,
  account: bigint,
  nonces: readonly bigint[],
  knownBlock: number | undefined,
): Promise<ReadonlyMap<bigint, SignedInvoke>> {
  const [first] = nonces;
  const found = new Map<bigint, SignedInvoke>();
  if (first === undefined) return found;
  const head = await chain.blockNumber();
  const nonceAt = remember(async (block) => (await chain.nonceAt(account, block)) ?? 0n);
  let before = await blockBefore(nonceAt, first, head, knownBlock);
  let read = -1;
  for (const nonce of nonces) {
    const block = await blockOf(nonceAt, nonce, before, head);
    if (block === undefined) break;
    if (block !== read) {
      for (const invoke of await chain.invokesIn(block, account)) found.set(BigInt(invoke.transaction.nonce), invoke);
    }
    read = block;
    before = block - 1;
  }
  return new Map([...found].filter(([nonce]) => nonces.includes(nonce)));
}

function remember(read: NonceAt): NonceAt {
  const known = new Map<number, Promise<bigint>>();
  return (block) => {
    const answer = known.get(block) ?? read(block);
    known.set(block, answer);
    return answer;
  };
}

/** A block in which the nonce is unused; -1 where it is used from the first block on. */
async function blockBefore(
  nonceAt: NonceAt,
  nonce: bigint,
  head: number,
  knownBlock: number | undefined,
): Promise<number> {
  if (knownBlock !== undefined && knownBlock <= head && (await nonceAt(knownBlock)) <= nonce) return knownBlock;
  for (let back = 1; ; back *= 2) {
    const block = Math.max(0, head - back);
    if ((await nonceAt(block)) <= nonce) return block;
    if (block === 0) return -1;
  }
}

/** Undefined while no sealed block has it. */
async function blockOf(nonceAt: NonceAt, nonce: bigint, before: number, head: number): Promise<number | undefined> {
  let unused = before;
  let used = unused;
  for (let step = 1; ; step *= 2) {
    used = Math.min(head, before + step);
    if ((await nonceAt(used)) > nonce) break;
    if (used === head) return undefined;
    unused = used;
  }
  while (used - unused > 1) {
    const middle = unused + Math.floor((used - unused) / 2);
    if ((await nonceAt(middle)) > nonce) used = middle;
    else unused = middle;
  }
  return used;
}
