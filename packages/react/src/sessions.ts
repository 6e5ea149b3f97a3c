'use client';
import {
  addSessionKeyToContract,
  createSessionKey,
  executeTransactionWithSession,
  removeSpendingPolicy,
  revokeSessionKey,
  setSpendingPolicy,
  setupSession,
} from '@svc/sdk';
import { changeHook, ownerHook, readHook } from './factory.ts';
import { sessionOptions, spendingPolicyOptions } from './options.ts';

const SESSIONS = { refreshes: ['session', 'spendingPolicy'], settlesWith: (hash: string) => hash } as const;

/**
 * What a session key may still do: `isActive`, expiry, calls left.
 *
 * @example
 * const { data } = useSession({ walletAddress: wallet.publicKey, sessionPublicKey: session.publicKey });
 */
export const useSession = /* @__PURE__ */ readHook(sessionOptions);

/**
 * Makes a session key on this device. Store what `mutateAsync` returns; `data` is without its encrypted private key.
 *
 * @example
 * const createKey = useCreateSessionKey();
 * const session = await createKey.mutateAsync({ encryptKey: deviceSecret, durationSeconds: 3600 });
 */
export const useCreateSessionKey = /* @__PURE__ */ changeHook(createSessionKey);

/**
 * Registers a session key and its spending policies with one signature. `data` is the transaction's hash.
 *
 * @example
 * const setup = useSetupSession();
 * setup.mutate({ wallet, sessionConfig, spendingPolicies });
 */
export const useSetupSession = /* @__PURE__ */ ownerHook(setupSession, SESSIONS);

/**
 * Registers a session key without policies, or changes a registered one. `data` is the transaction's hash.
 *
 * @example
 * const add = useAddSessionKey();
 * add.mutate({ wallet, sessionConfig });
 */
export const useAddSessionKey = /* @__PURE__ */ ownerHook(addSessionKeyToContract, SESSIONS);

/**
 * Revokes a session key. `data` is the transaction's hash.
 *
 * @example
 * const revoke = useRevokeSessionKey();
 * revoke.mutate({ wallet, sessionPublicKey: session.publicKey });
 */
export const useRevokeSessionKey = /* @__PURE__ */ ownerHook(revokeSessionKey, SESSIONS);

/**
 * Executes calls signed by a session key; `encryptKey` opens the session's key. `data` is the transaction's hash.
 *
 * @example
 * const execute = useExecuteWithSession();
 * execute.mutate({ encryptKey: deviceSecret, wallet, session, calls });
 */
export const useExecuteWithSession = /* @__PURE__ */ changeHook(executeTransactionWithSession, {
  refreshes: ['balance', 'transactions', 'transactionPages', 'session', 'spendingPolicy'],
  settlesWith: (hash) => hash,
});

/**
 * A session key's limit for a token, and what is spent of it.
 *
 * @example
 * const { data } = useSpendingPolicy({ walletAddress: wallet.publicKey, sessionPublicKey, token: tokenAddress });
 */
export const useSpendingPolicy = /* @__PURE__ */ readHook(spendingPolicyOptions);

/**
 * Sets a session key's limit for a token. `data` is the transaction's hash.
 *
 * @example
 * const set = useSetSpendingPolicy();
 * set.mutate({ wallet, spendingPolicyConfig });
 */
export const useSetSpendingPolicy = /* @__PURE__ */ ownerHook(setSpendingPolicy, SESSIONS);

/**
 * Removes a session key's limit for a token. `data` is the transaction's hash.
 *
 * @example
 * const remove = useRemoveSpendingPolicy();
 * remove.mutate({ wallet, sessionPublicKey, token: tokenAddress });
 */
export const useRemoveSpendingPolicy = /* @__PURE__ */ ownerHook(removeSpendingPolicy, SESSIONS);
