export * from './calldata.ts';
export {
  addBalances,
  type CipherBalance,
  decryptBalance,
  emptyBalance,
  encryptAmount,
  encrypts,
  subtractBalances,
} from './cipher-balance.ts';
export { FUND_RANDOMNESS, type ProofContext, WITHDRAW_RANDOMNESS } from './context.ts';
export { decryptHint, encryptHint, type HintKey } from './hint.ts';
export { type CurvePoint, G as GENERATOR_POINT, H as SECOND_GENERATOR, isPoint, publicPoint } from './points.ts';
export { formatPrivateAddress, parsePrivateAddress } from './private-address.ts';
export {
  type Fund,
  type KeyProof,
  proveFund,
  proveRagequit,
  proveRollover,
  type Ragequit,
  type Rollover,
  verifyFund,
  verifyRagequit,
  verifyRollover,
} from './public-operations.ts';
export type { BitProof, Range } from './range.ts';
export { proveTransfer, type Transfer, type TransferProof, verifyTransfer } from './transfer.ts';
export { proveWithdraw, verifyWithdraw, type Withdraw, type WithdrawProof } from './withdraw.ts';
