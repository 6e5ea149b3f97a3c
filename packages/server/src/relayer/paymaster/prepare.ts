import { type Call, type OutsideExecution, parseOutsideExecutionTypedData } from '@svc/starknet';
import { prepareExecution, randomNonce } from '../prepare.ts';
import type { PrepareRequest } from '../sponsor.ts';
import type { PaymasterParts } from './parts.ts';
import { refusedToBuild, unavailable } from './refusals.ts';
import { buildRequest } from './requests.ts';

type Parts = Pick<PaymasterParts, 'networks' | 'paymaster'>;

/** The paymaster may choose nonce and caller; that it asks for nothing else is checked before anyone is shown it. */
export async function prepare({ networks, paymaster }: Parts, request: PrepareRequest): Promise<OutsideExecution> {
  const network = networks.starknet(request.environment);
  const own = await prepareExecution(network, request.calls, randomNonce);
  // A deployment without calls is not signed for the paymaster, and nothing is there that it could build.
  if (own.calls.length === 0) return own;
  const answer = await paymaster.build(buildRequest(request, own));
  if (answer.outcome === 'refused') throw refusedToBuild(answer);
  if (answer.outcome === 'failed') throw unavailable(`did not build: ${answer.reason}`);
  return checked(answer.value, own, network.chain.chainId);
}

function checked(typedData: unknown, own: OutsideExecution, chainId: bigint): OutsideExecution {
  const built = parseOutsideExecutionTypedData(typedData);
  if (!built.ok) throw unavailable(`built typed data that is not an outside execution: ${built.reason}`);
  const { execution } = built.value;
  if (built.value.chainId !== chainId) throw unavailable('built typed data for another chain');
  if (!sameCalls(execution.calls, own.calls)) throw unavailable('built typed data with calls that were not asked for');
  if (execution.executeAfter < own.executeAfter || execution.executeBefore > own.executeBefore) {
    throw unavailable('built typed data that is valid for longer than was asked for');
  }
  return execution;
}

function sameCalls(built: readonly Call[], asked: readonly Call[]): boolean {
  return (
    built.length === asked.length &&
    built.every(({ to, selector, calldata }, index) => {
      const other = asked[index];
      return (
        to === other?.to &&
        selector === other.selector &&
        calldata.length === other.calldata.length &&
        calldata.every((felt, position) => felt === other.calldata[position])
      );
    })
  );
}
