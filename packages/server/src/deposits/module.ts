import type { Handlers } from '../http/call.ts';
import { createDeposit, type DepositDeps } from './create-deposit.ts';

export function depositHandlers(deps: DepositDeps): Pick<Handlers, 'createDeposit'> {
  return { createDeposit: (call) => createDeposit(deps, call) };
}
