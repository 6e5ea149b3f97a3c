import type { Handlers } from '../http/call.ts';
import { createDeposit, type DepositParts } from './create-deposit.ts';

export function depositHandlers(parts: DepositParts): Pick<Handlers, 'createDeposit'> {
  return { createDeposit: (call) => createDeposit(parts, call) };
}
