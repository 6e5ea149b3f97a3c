import type { WalletType } from '@svc/protocol';
import { ADDRESS_BOUND, parseFelt } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcConnectionError, SvcInputError, SvcTypedDataError } from '../client/errors.ts';
import { type Config, getConfig } from '../client/get-config.ts';
import { isObject } from '../client/is-object.ts';

/** The class that is asked for, or else the current one of the type, as the service names it. */
export async function walletClassOf(client: Client, walletType: WalletType, classHash?: string): Promise<bigint> {
  if (classHash !== undefined) return readClassHash(classHash);
  const { walletClasses } = await getConfig(client);
  if (!Array.isArray(walletClasses) || !walletClasses.every(isObject)) throw notAsAgreed();
  const current = (walletClasses as Config['walletClasses']).find(
    (known) => known.walletType === walletType && known.current,
  );
  const named = current && parseClassHash(current.classHash);
  if (named !== undefined) return named;
  if (current) throw notAsAgreed();
  throw new SvcInputError('invalid_input', `This service has no class for wallets of the type ${walletType}.`);
}

function readClassHash(text: string): bigint {
  const classHash = parseClassHash(text);
  if (classHash !== undefined) return classHash;
  throw new SvcInputError('invalid_input', `${text} is not a class hash.`);
}

function parseClassHash(text: string): bigint | undefined {
  const value = typeof text === 'string' ? parseFelt(text) : undefined;
  return value?.ok && value.value > 0n && value.value < ADDRESS_BOUND ? value.value : undefined;
}

const notAsAgreed = () =>
  new SvcConnectionError(
    'invalid_answer',
    'The service does not name its wallet classes as agreed. Is baseUrl its address?',
  );

/** What the service says it will do must be what it was asked to do. */
export function requireClass(said: string, asked: bigint): void {
  const value = parseFelt(String(said));
  if (value.ok && value.value === asked) return;
  throw new SvcTypedDataError(
    'typed_data_mismatch',
    'The service prepared another wallet class than was asked for, and nothing was signed.',
  );
}
