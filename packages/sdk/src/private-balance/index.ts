export { type HistoryParams, history, type PrivateHistoryItem } from './history.ts';
export { type DeriveKeysParams, deriveKeys, type PrivateKeys } from './keys.ts';
export {
  type GetPrivateBalanceParams,
  getPrivateBalance,
  type PrivateBalance,
  type PrivateOperation,
  type PrivateOperationParams,
  type PrivateStep,
  type PrivateTransferParams,
  type RolloverParams,
  rollover,
  type ShieldBatchParams,
  type ShieldParams,
  shield,
  shieldBatch,
  transfer,
  type UnshieldParams,
  unshield,
} from './operations.ts';
export { type PrivateBalanceTerms, terms } from './pool.ts';
