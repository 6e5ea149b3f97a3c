import { readFileSync } from 'node:fs';
import {
  formatUsd,
  type Parsed,
  parseStarknetAddress,
  parseUsd,
  type StarknetAddress,
  type UsdMicros,
} from '@svc/protocol';
import { ADDRESS_BOUND, parseFelt } from '@svc/starknet';
import { hostUrls } from '@svc/store';

/** A private key, or the public key of one that the signer holds. */
export type AccountKey = { readonly privateKey: bigint } | { readonly publicKey: bigint };
export type RelayerAccount = { readonly address: bigint } & AccountKey;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Shorter names are too close to names of other programs. */
const MIN_SLIP_LENGTH = 8;
/** Two letters exchanged count as two. */
const MAX_SLIPS = 2;
/** They are tried in turn while a caller waits. */
const MAX_NODES = 5;
/** A dozen fills a block; their nonces are independent. */
const MAX_RELAYERS = 64;

/** `NAME_FILE` names a file with the value of `NAME`: secret managers hand secrets over as files. */
const FILE_SUFFIX = '_FILE';

/** Reads environment variables and collects every problem, so that one start reports all of them. */
export class VariableReader {
  readonly #env: Record<string, string | undefined>;
  readonly #problems: string[] = [];
  readonly #known = new Map<string, string | undefined>();

  constructor(env: Record<string, string | undefined>) {
    this.#env = env;
  }

  /** An empty variable counts as unset: that is what `NAME= npm start` means. */
  text(name: string): string | undefined {
    if (!this.#known.has(name)) this.#known.set(name, this.#read(name));
    return this.#known.get(name);
  }

  #read(name: string): string | undefined {
    const value = this.#env[name]?.trim() || undefined;
    const fileName = name + FILE_SUFFIX;
    const file = this.#env[fileName]?.trim();
    if (!file) return value;
    if (value !== undefined) return this.#refuse(fileName, `must not be set besides ${name}`);
    try {
      const text = readFileSync(file, 'utf8').trim();
      return text || this.#refuse(fileName, 'must name a file that is not empty');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
      return this.#refuse(fileName, `must name a file that can be read (${code})`);
    }
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    return this.#refuse(name, `must be a whole number from ${min} to ${max}`, fallback);
  }

  day(name: string): Date | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const at = new Date(`${text}T00:00:00Z`);
    if (/^\d{4}-\d\d-\d\d$/.test(text) && at.toJSON()?.startsWith(text)) return at;
    return this.#refuse(name, 'must be a day, such as 2027-03-31');
  }

  usd(name: string, fallback: UsdMicros, max: UsdMicros): UsdMicros {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const micros = parseUsd(text);
    if (micros.ok && micros.value <= max) return micros.value;
    return this.#refuse(name, `must be dollars from 0 to ${formatUsd(max)}, such as 0.01`, fallback);
  }

  choice<const T extends string, F extends T | undefined>(name: string, allowed: readonly T[], fallback: F): T | F {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = allowed.find((value) => value === text);
    return found ?? this.#refuse(name, `must be one of ${allowed.join(', ')}`, fallback);
  }

  url(name: string, protocols: readonly string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    return this.#refuse(name, `must be an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  }

  /** The driver takes more forms than `URL`, but misreads a bare % in a password. */
  databaseUrl(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^postgres(ql)?:\/\//.test(text)) return this.#refuse(name, 'must start with postgres:// or postgresql://');
    if (/%(?![0-9A-Fa-f]{2})/.test(text)) return this.#refuse(name, 'must spell a % of its password as %25');
    if (!hostUrls(text)) return this.#refuse(name, 'must name its hosts like host1:5432,host2:5432, eight at most');
    return text;
  }

  urls(name: string): readonly string[] | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const urls = text.split(',').map((url) => url.trim());
    const good = urls.every((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol));
    if (good && urls.length <= MAX_NODES) return urls;
    return this.#refuse(
      name,
      `must be 1 to ${MAX_NODES} addresses that start with http:// or https://, with commas between`,
    );
  }

  starknetAddress(name: string): StarknetAddress | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const address = parseStarknetAddress(text);
    return address.ok ? address.value : this.#refuse(name, address.reason);
  }

  classHash(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const hash = parseFelt(text);
    if (hash.ok && hash.value > 0n && hash.value < ADDRESS_BOUND) return hash.value;
    return this.#refuse(name, 'must be the hash of a class: 0x and hexadecimal digits');
  }

  /** `address:private key` pairs, separated by commas. */
  accounts(name: string): readonly RelayerAccount[] {
    const pairs = this.text(name)?.split(',') ?? [];
    const accounts = pairs.map(readAccount);
    const good = accounts.filter((account) => account !== undefined);
    const distinct = new Set(good.map(({ address }) => address)).size;
    if (good.length === accounts.length && distinct === good.length && good.length <= MAX_RELAYERS) return good;
    const form = `1 to ${MAX_RELAYERS} different accounts as 0xADDRESS:0xPRIVATEKEY or 0xADDRESS:signer:0xPUBLICKEY, with commas between`;
    return this.#refuse(name, `must be ${form}`, []);
  }

  parsed<T>(name: string, parse: (text: string) => Parsed<T>): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = parse(text);
    return value.ok ? value.value : this.#refuse<T | undefined>(name, value.reason);
  }

  account(name: string): RelayerAccount | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    return (
      readAccount(text) ??
      this.#refuse(name, 'must be an account as 0xADDRESS:0xPRIVATEKEY or 0xADDRESS:signer:0xPUBLICKEY')
    );
  }

  accountKey(name: string): AccountKey | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    return readKey(text.split(':')) ?? this.#refuse(name, 'must be a private key (0x…) or signer:0xPUBLICKEY');
  }

  /** A value from elsewhere, as if it stood in the environment. */
  provide(name: string, value: string, source: string): void {
    if (this.#isSet(name)) this.#refuse(name, `must not be set besides ${source}`);
    else this.#known.set(name, value);
  }

  needed(name: string, problem: string): void {
    if (!this.#isSet(name)) this.#refuse(name, problem);
  }

  refuse(name: string, problem: string): void {
    this.#refuse(name, problem);
  }

  /** Refuses those that are missing while others of the list are set. */
  together(names: readonly string[]): void {
    const missing = names.filter((name) => !this.#isSet(name));
    if (missing.length === names.length) return;
    for (const name of missing) this.#refuse(name, `must be set too: ${names.join(', ')} go together`);
  }

  matching(name: string, pattern: RegExp): string | undefined {
    const text = this.text(name);
    if (text === undefined || pattern.test(text)) return text;
    return this.#refuse(name, `must match ${pattern.source}`);
  }

  /** Variables that nothing reads and that differ from a known name by a slip, or carry our prefix. Call it after the last read. */
  misspelled(readElsewhere: readonly string[]): string[] {
    const known = [...this.#known.keys()];
    const isKnown = (name: string) => this.#known.has(name) || readElsewhere.includes(name);
    return Object.keys(this.#env).flatMap((name) => {
      const suffix = name.endsWith(FILE_SUFFIX) ? FILE_SUFFIX : '';
      const setting = name.slice(0, name.length - suffix.length);
      if (isKnown(name) || this.#known.has(setting)) return [];
      const meant = known.find((other) => other.length >= MIN_SLIP_LENGTH && editDistance(setting, other) <= MAX_SLIPS);
      if (meant !== undefined) return [`${name} is not a setting. Is ${meant}${suffix} meant?`];
      return name.startsWith('SVC_') ? [`${name} is not a setting.`] : [];
    });
  }

  finish(): void {
    if (this.#problems.length > 0)
      throw new ConfigError(`The configuration is not usable:\n${this.#problems.join('\n')}`);
  }

  /** Also where its file cannot be read, which is a problem of its own. */
  #isSet(name: string): boolean {
    return this.text(name) !== undefined || Boolean(this.#env[name + FILE_SUFFIX]?.trim());
  }

  // The value may be a secret, so the message names only the variable.
  #refuse<T>(name: string, problem: string, fallback?: T): T {
    this.#problems.push(`  ${name} ${problem}`);
    return fallback as T;
  }
}

function readAccount(pair: string): RelayerAccount | undefined {
  const [address = '', ...rest] = pair.trim().split(':');
  const [parsed, key] = [parseStarknetAddress(address), readKey(rest)];
  return parsed.ok && key ? { address: BigInt(parsed.value), ...key } : undefined;
}

function readKey(words: readonly string[]): AccountKey | undefined {
  const isHeld = words[0] === 'signer';
  const [text = '', ...rest] = isHeld ? words.slice(1) : words;
  const key = parseFelt(text);
  if (!key.ok || key.value === 0n || rest.length > 0) return undefined;
  return isHeld ? { publicKey: key.value } : { privateKey: key.value };
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
