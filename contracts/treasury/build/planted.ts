import { type Bundle, type CairoModule, type SourceLine, sourceOf } from '../../build/bundle.ts';
import { testBundle } from './bundle.ts';

/** A change of the contract's source that must not pass its scenarios. */
export interface PlantedBug {
  readonly name: string;
  readonly find: string;
  readonly replace: string;
  readonly caughtBy: string;
}

export const planted: readonly PlantedBug[] = [
  {
    name: 'one signature less is enough',
    find: 'approvals >= self.threshold.read()',
    replace: 'approvals + 1 >= self.threshold.read()',
    caughtBy: 'fewer signers than the threshold are refused',
  },
  {
    name: 'a signer may sign twice',
    find: 'if key.into() <= last {',
    replace: 'if key.into() < last {',
    caughtBy: 'a signer counts once',
  },
  {
    name: 'a signature is not checked',
    find: 'if !is_signed_by(key, hash, r, s) {',
    replace: 'if false && !is_signed_by(key, hash, r, s) {',
    caughtBy: 'a wrong signature of a signer refuses all of them',
  },
  {
    name: 'strangers count',
    find: 'if self.signers.read(key) {',
    replace: 'if true || self.signers.read(key) {',
    caughtBy: 'a key that is no signer does not count',
  },
  {
    name: 'a removed signer stays',
    find: 'self.signers.write(key, false);',
    replace: 'self.signers.write(key, true);',
    caughtBy: 'a removed signer counts no longer, nor what was signed before',
  },
  {
    name: 'anyone changes the signers',
    find: `assert_self();
            self.replace(signers.span(), threshold);`,
    replace: 'self.replace(signers.span(), threshold);',
    caughtBy: 'only the treasury itself changes its signers',
  },
  {
    name: 'more signatures may be needed than there are signers',
    find: 'threshold != 0 && threshold <= signers.len()',
    replace: 'threshold != 0',
    caughtBy: 'a change that would lock the treasury is refused',
  },
  {
    name: 'nothing is counted against a limit',
    find: 'spent_in_window: spent + amount',
    replace: 'spent_in_window: spent',
    caughtBy: 'one signer pays up to the limit of a window, and again in the next',
  },
  {
    name: 'a limit allows every entrypoint of its token',
    find: `limit.window_seconds != 0 && *call.selector == selector!("transfer")`,
    replace: 'limit.window_seconds != 0',
    caughtBy: 'a limit allows transfers of its token and nothing else',
  },
  {
    name: 'a limit allows an execution without calls',
    find: "assert(!calls.is_empty(), 'Treasury: threshold not reached');",
    replace: '',
    caughtBy: 'an execution without calls needs the threshold',
  },
  {
    name: 'a limit is good for transactions that the treasury pays',
    find: "assert(self.signing.is_enough(approvals.len()), 'Treasury: threshold not reached');",
    replace: '',
    caughtBy: 'a transaction of the treasury needs the threshold, whatever the limit',
  },
  {
    name: 'a class that is no treasury is taken',
    find: "assert(answer.len() == 1 && *answer.at(0) == 1, 'Treasury: invalid class hash');",
    replace: '',
    caughtBy: 'an upgrade to a class that is no treasury is refused',
  },
  {
    name: 'an execution runs again',
    find: 'self.outside_nonces.write(*execution.nonce, true);',
    replace: '',
    caughtBy: 'an execution runs once, by whichever signers',
  },
];

/** The bundle with the bug in it, line for line as one text. */
export function plantedBundle(modules: readonly CairoModule[], { name, find, replace }: PlantedBug): Bundle {
  const bundle = testBundle(modules);
  const source = sourceOf(bundle);
  const at = source.indexOf(find);
  if (at < 0 || source.indexOf(find, at + 1) >= 0) throw new Error(`The planted bug "${name}" has no single place.`);
  const changed = source.slice(0, at) + replace + source.slice(at + find.length);
  const positions = bundle[0] ?? { file: '', line: 1, module: '' };
  // Positions shift by the lines that the change takes away; modules, which name the tests, come from the original.
  const removed = find.split('\n').length - replace.split('\n').length;
  const first = source.slice(0, at).split('\n').length;
  return changed
    .trimEnd()
    .split('\n')
    .map((text, index): SourceLine => ({ ...(bundle[index >= first ? index + removed : index] ?? positions), text }));
}
