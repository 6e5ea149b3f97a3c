import type { OrderResult, Provider, ProviderOrder } from '../src/purchases/provider.ts';

/** What becomes of a call: it is answered, or it throws without having arrived, or it throws although it has. */
export type Turn = OrderResult | 'lost' | 'delivered, but not told';

export const COMPLETED = { state: 'completed', fileNumber: 'F-1' } as const;
export const REFUSED = { state: 'failed', reason: 'No such number.' } as const;
export const ACCEPTED = { state: 'accepted' } as const;

/** A provider that does what tests tell it, and keeps a ledger of what it was asked. */
export class StubProvider implements Provider {
  /** What becomes of the next calls of `order`; after that each is completed. */
  readonly turns: Turn[] = [];
  /** Everything it was asked for, in order. */
  readonly asked: string[] = [];
  readonly orders = new Map<string, ProviderOrder>();
  readonly results = new Map<string, OrderResult>();
  /** Before an order is taken. */
  onOrder: (order: ProviderOrder) => Promise<void> = async () => {};
  /** Before it says what became of an order. */
  onLookUp: () => Promise<void> = async () => {};
  isDown = false;

  reset(): void {
    this.turns.length = 0;
    this.asked.length = 0;
    this.orders.clear();
    this.results.clear();
    this.onOrder = async () => {};
    this.onLookUp = async () => {};
    this.isDown = false;
  }

  async order(order: ProviderOrder): Promise<OrderResult> {
    this.asked.push('order');
    await this.onOrder(order);
    const turn = this.turns.shift() ?? COMPLETED;
    if (turn === 'lost' || this.isDown) throw new Error('The connection was closed.');
    this.orders.set(order.orderId, order);
    const result = typeof turn === 'string' ? COMPLETED : turn;
    this.results.set(order.orderId, this.results.get(order.orderId) ?? result);
    if (turn === 'delivered, but not told') throw new Error('The connection was closed.');
    return result;
  }

  async lookUp(orderId: string): Promise<OrderResult | { readonly state: 'unknown' }> {
    this.asked.push('lookUp');
    await this.onLookUp();
    if (this.isDown) throw new Error('The connection was closed.');
    return this.results.get(orderId) ?? { state: 'unknown' };
  }
}
