import type { Db } from '@svc/store';
import {
  answerFaultKinds,
  type CallbackFaultKind,
  callbackFaultKinds,
  type RequestFaultKind,
  requestFaultKinds,
  takeProviderFault,
} from './faults.ts';
import { fateOf, isSlow, type Order } from './order.ts';
import { insertOrder, type Known, type NewOrder, readSlowSeconds, repeatOrder, type Word } from './store.ts';

/** What to answer: how it went, and the fault that gets in the way of saying so. */
export interface OrderTaken {
  readonly fault: RequestFaultKind | undefined;
  /** undefined: the id is known for another order, or the fault came first. */
  readonly known: Known | undefined;
}

const wordsOf: Readonly<Record<CallbackFaultKind, readonly Word[]>> = {
  slow: ['truth'],
  'no-callback': [],
  'callback-twice': ['truth', 'truth'],
  'callback-contradicting': ['truth', 'lie'],
};

/** Takes an order, once: whoever sends it again is told what became of it. */
export function takeOrder(db: Db, order: Order): Promise<OrderTaken> {
  return db.tx(async (tx) => {
    const kinds = [...requestFaultKinds, ...answerFaultKinds];
    const fault = await takeProviderFault(tx, kinds, 'order', order.reference);
    if (requestFaultKinds.some((kind) => kind === fault)) return { fault, known: undefined };
    const repeated = await repeatOrder(tx, order);
    const known = repeated ?? (await insertOrder(tx, await judge(tx, order))) ?? (await repeatOrder(tx, order));
    return { fault, known };
  });
}

async function judge(tx: Db, order: Order): Promise<NewOrder> {
  const fate = { order, ...fateOf(order) };
  const fault = await takeProviderFault(tx, callbackFaultKinds, 'order', order.reference);
  const words = fault === undefined && isSlow(order) ? wordsOf.slow : fault && wordsOf[fault];
  if (words) return { ...fate, state: 'accepted', dueInSeconds: await readSlowSeconds(tx), toTell: words };
  return { ...fate, state: fate.reason === null ? 'completed' : 'failed', dueInSeconds: null, toTell: [] };
}
