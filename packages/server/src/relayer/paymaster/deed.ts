import { parseOutsideExecutionTypedData } from '@svc/starknet';
import type { Deed } from '../evidence/evidence.ts';
import type { PaymasterRelay } from './store.ts';

/** What a paymaster was asked to do. */
export function deedOf({ id, wallet, notAfter, content }: PaymasterRelay): Deed {
  const { transaction } = content.request;
  const about = { relayId: id, wallet, notAfter, fromBlock: content.fromBlock, deploys: transaction.type !== 'invoke' };
  if (transaction.type === 'deploy') return { ...about, execution: undefined };
  const typedData = parseOutsideExecutionTypedData(transaction.invoke.typed_data);
  if (!typedData.ok) throw new Error(`The stored request cannot be read: ${typedData.reason}`);
  return { ...about, execution: typedData.value.execution };
}
