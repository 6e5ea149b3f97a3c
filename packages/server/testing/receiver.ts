import { onTestFinished } from 'vitest';
import { type Behaviour, openReceiver, type Receiver, status } from './open-receiver.ts';

/** A receiver of webhooks that ends with the test. */
export async function startReceiver(behave: Behaviour = status(204)): Promise<Receiver> {
  const receiver = await openReceiver(behave);
  onTestFinished(() => receiver.close());
  return receiver;
}
