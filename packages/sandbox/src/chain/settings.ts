import type { Draft } from './draft.ts';
import type { Head } from './head.ts';

/** Ends the open block, or adds empty ones. */
export function mine(draft: Draft, blocks: number): void {
  for (let count = 0; count < blocks; count++) draft.seal();
}

/** Sets the chain's clock apart from the real one. A block of the new time follows at once, so that every reader sees it. */
export function setTimeOffset(draft: Draft, seconds: number): void {
  if (draft.head.open && draft.head.open.transactions > 0) draft.seal();
  draft.change({ timeOffsetSeconds: seconds });
  if (draft.head.open) draft.change({ open: draft.newBlock() });
  draft.seal();
}

/** With 0 every transaction gets its block at once. What is open is sealed either way. */
export function setBlockTime(draft: Draft, seconds: number, l1AfterBlocks: number | undefined): void {
  if (draft.head.open && draft.head.open.transactions > 0) draft.seal();
  draft.change({ blockSeconds: seconds, ...(l1AfterBlocks !== undefined && { l1AfterBlocks }) });
  draft.change({ open: seconds === 0 ? undefined : draft.newBlock() });
}

/** Seals the open block when its time has come. Every process asks; only the first one finds it due. */
export function sealWhenDue(draft: Draft, now: number): void {
  if (isDue(draft.head, now)) draft.seal();
}

export function isDue(head: Head, now: number): boolean {
  return head.open !== undefined && now >= head.open.openedAt + head.blockSeconds * 1000;
}
