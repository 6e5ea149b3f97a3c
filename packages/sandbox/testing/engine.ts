import { useWebAssembly } from '@svc/starknet/wasm';

let isUsed = false;

/** What the sandbox's own thread does. Once, because an engine keeps tables. */
export function useThreadEngine(): void {
  if (!isUsed) useWebAssembly();
  isUsed = true;
}
