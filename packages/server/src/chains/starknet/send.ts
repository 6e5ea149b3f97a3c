import type { RpcProvider } from 'starknet';
import { failureIn } from '../node-failure.ts';
import { type Node, type Nodes, reasonOf } from '../nodes.ts';
import type { SendOutcome, SignedInvoke } from './chain.ts';
import { code, isCode, isRefusal, toRefusal } from './refusal.ts';

/**
 * Tries one node after the other until one answers. Repeating is safe because every try sends the same bytes under the same
 * hash, which the chain takes once. After a try that may have been obeyed, a refusal proves nothing: the nonce may be
 * used by this very transaction.
 */
export async function sendOnce(nodes: Nodes<RpcProvider>, signed: SignedInvoke): Promise<SendOutcome> {
  const failures: string[] = [];
  let perhapsTaken = false;
  for (const node of nodes.inOrder()) {
    const attempt = (await turnedAway(nodes, node)) ?? (await attemptOn(node, signed));
    if (attempt.outcome === 'sent') return attempt;
    if (attempt.outcome === 'refused') {
      if (!perhapsTaken) return attempt;
      failures.push(`${node.host} refused it (${attempt.code})`);
      break;
    }
    nodes.rest(node);
    perhapsTaken ||= attempt.unclear;
    failures.push(attempt.reason);
  }
  return { outcome: 'unknown', reason: failures.join('; ') };
}

type Attempt = Exclude<SendOutcome, { outcome: 'unknown' }> | Failed;
interface Failed {
  readonly outcome: 'failed';
  readonly unclear: boolean;
  readonly reason: string;
}

/** Before anything is sent, so nothing is unclear. */
async function turnedAway(nodes: Nodes<RpcProvider>, node: Node<RpcProvider>): Promise<Failed | undefined> {
  return nodes.admit(node).then(
    () => undefined,
    (error: unknown) => ({ outcome: 'failed', unclear: false, reason: reasonOf(error) }),
  );
}

async function attemptOn(node: Node<RpcProvider>, { hash, transaction }: SignedInvoke): Promise<Attempt> {
  try {
    const answer = (await node.client.invokeSignedTx(transaction)) as { transaction_hash: string };
    if (BigInt(answer.transaction_hash) === hash) return { outcome: 'sent' };
    return { outcome: 'failed', unclear: true, reason: `${node.host} answered with another hash` };
  } catch (error) {
    if (isCode(error, code.duplicateTransaction)) return { outcome: 'sent' };
    if (isRefusal(error)) {
      const { code, reason } = toRefusal(error);
      return { outcome: 'refused', code, reason };
    }
    return { outcome: 'failed', unclear: failureIn(error)?.unclear ?? true, reason: reasonOf(error) };
  }
}
