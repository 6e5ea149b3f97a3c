import type { Module } from '../http/module.ts';
import { createDeposit, type DepositDeps } from './create-deposit.ts';

export function create(deps: DepositDeps): Module<'createDeposit'> {
  return { handlers: { createDeposit: (call) => createDeposit(deps, call) } };
}
