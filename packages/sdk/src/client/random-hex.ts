import type { Runtime } from './runtime.ts';

/** As many random bytes, each as two digits. */
export function randomHex(runtime: Runtime, bytes: number): string {
  return Array.from(runtime.randomBytes(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
