/** What to do about the words of `/readyz`, by check and word. */
const fixes: Readonly<Record<string, string>> = {
  'database unreachable': 'Start PostgreSQL and check DATABASE_URL; the log of the service has the reason.',
  'stopping true': 'It is being stopped: start it again.',
  'proxy untrusted': 'A proxy is in front of it: set TRUST_PROXY to how many there are.',
  'node unreachable': 'Check STARKNET_RPC_URLS, and that the nodes answer from the machine of the service.',
  'class undeclared':
    'Declare the wallet class on this network (svc setup, docs/contract.md), or correct SVC_CLASS_HASH.',
  'treasuryClass missing':
    'Treasuries cannot be made. Declare contracts/compiled/svc_treasury.json: svc setup does it, or see docs/contract.md.',
  'deployed undeployed':
    'Deploy the accounts: svc operator accounts shows which are NOT_DEPLOYED. Until then nothing is sent.',
  'deployed incomplete': 'Deploy the relayers that svc operator accounts shows as NOT_DEPLOYED, or remove them.',
  'relayers low': 'Send STRK to the relayers: svc operator accounts lists them.',
  'relayers empty': 'Send STRK to the relayers: svc operator accounts lists them. Until then nothing is sponsored.',
  'manager low': 'Send USDC and STRK to the manager: svc operator accounts lists it.',
  'manager empty': 'Send USDC and STRK to the manager: svc operator accounts lists it. Until then no gift is paid.',
  'accounts unreconciled': 'Payments have stopped. Run svc operator reconcile run, then match or accept what is open.',
  'disk low': 'Less than 1 GB is free: make room, or move the data folder.',
  'disk full': 'Make room on the disk of the data folder now: the service has stopped taking work.',
};
const UNKNOWN = 'It could not be read in time. Ask again; if it stays, the log of the service has the reason.';

/** Words that make a process unready: it cannot do what it is asked. */
const unready: ReadonlySet<string> = new Set(['unreachable', 'undeclared', 'undeployed', 'empty', 'full', 'true']);

/** `failing` makes the process unready. */
export type CheckLevel = 'ok' | 'warning' | 'failing';

/** Of a word of `/readyz`. */
export function levelOfWord(word: string | boolean): CheckLevel {
  if (word === 'ok' || word === false || word === 'false') return 'ok';
  return unready.has(String(word)) ? 'failing' : 'warning';
}

/** What to do about a word of `/readyz`; undefined where all is well. */
export function fixOfWord(check: string, word: string | boolean): string | undefined {
  if (levelOfWord(word) === 'ok') return undefined;
  if (word === 'unknown') return UNKNOWN;
  return fixes[`${check} ${word}`] ?? 'docs/operations.md describes this check.';
}
