import type { Endpoint } from './endpoint.ts';
import type { endpoints } from './endpoints/index.ts';
import { type Environment, type Role, roles } from './enums.ts';

/** The least role that may call an endpoint. Reads are for every member, changes for developers, unless the endpoint says otherwise. */
export function requiredRole(
  { method, access, role }: Pick<Endpoint, 'method' | 'access' | 'role'>,
  environment: Environment,
): Role {
  if (role !== undefined) return typeof role === 'string' ? role : role[environment];
  // A person's own session and passkeys.
  if (access === 'session') return 'VIEWER';
  return method === 'GET' ? 'VIEWER' : 'DEVELOPER';
}

/** `roles` is in ascending order. */
export const includesRole = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Users with this beginning are recipients of gifts, who sign in at the service itself. No key set can name them. */
export const RECIPIENT_PREFIX = 'rcp_';

/** What a recipient's token opens: the own wallet, its history, purchases and transfers to Solana. Nothing that makes a second wallet. */
const recipientOperations: ReadonlySet<string> = new Set<keyof typeof endpoints>([
  'getConfig',
  'getWalletByUser',
  'getTokenBalance',
  'recoverCredential',
  'updateEncryptionDetails',
  'prepareWalletCreation',
  'createWallet',
  'prepareTypedData',
  'executeSponsoredTransaction',
  'getTransaction',
  'getTransactionStatus',
  'listTransactions',
  'quoteSolanaTransfer',
  'createSolanaTransfer',
  'getSolanaTransfer',
  'listSolanaTransfers',
  'syncOnChain',
  'listSkus',
  'getSku',
  'checkSkuReference',
  'getUsdAmount',
  'createSkuPurchase',
  'getSkuPurchase',
  'listSkuPurchases',
]);

export const recipientMayCall = ({ access, operationId }: Partial<Pick<Endpoint, 'access' | 'operationId'>>): boolean =>
  access === 'recipient' || (operationId !== undefined && recipientOperations.has(operationId));
