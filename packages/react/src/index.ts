export { skipToken } from '@tanstack/react-query';
export {
  type ChangeHook,
  type ChangeHookOptions,
  type ChangeResult,
  type OwnerChange,
  type OwnWallet,
  type ReadHook,
  type ReadHookOptions,
  SvcWalletLockedError,
} from './factory.ts';
export * from './gifts.ts';
export { type Resource, type SvcKey, svcKey } from './keys.ts';
export * from './options.ts';
export { SvcProvider, type SvcProviderProps, useSvc } from './provider.ts';
export * from './purchases.ts';
export type { WithoutSecrets } from './secrets.ts';
export * from './sessions.ts';
export * from './transactions.ts';
export * from './treasuries.ts';
export * from './wallets.ts';
