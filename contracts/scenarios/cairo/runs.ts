import type { Execution, Scenario, ScenarioCall, Step } from '../model.ts';

/** How often a scenario enters a contract, which determines its memory use. */
export function runsOf({ steps }: Scenario): number {
  return TOKENS + steps.reduce((sum, step) => sum + runsOfStep(step), 0);
}

/** Both tokens are deployed by a constructor. */
const TOKENS = 2;

function runsOfStep(step: Step): number {
  switch (step.kind) {
    case 'clock':
      return 0;
    case 'deploy':
    case 'read':
      return 1;
    case 'relay':
      return 1 + (isRefusedAtOnce(step) ? 0 : runsOfCalls(step.signed.execution));
    case 'transaction':
      return 2 + runsOfCalls(step);
    case 'call':
      return runsOfCall(step.call);
  }
}

/** Refused before any call, unless by an inner execution. */
function isRefusedAtOnce({ signed, outcome }: Extract<Step, { kind: 'relay' }>): boolean {
  const { execution, signature } = signed;
  if (!('reverts' in outcome) || execution.calls.some(({ calldata }) => 'execution' in calldata)) return false;
  if (signature.session) return !/^(ERC20|ENTRYPOINT)/.test(outcome.reverts);
  return /^(SRC9: |Account: invalid signature)/.test(outcome.reverts);
}

function runsOfCalls({ calls }: Pick<Execution, 'calls'>): number {
  return calls.reduce((sum, call) => sum + runsOfCall(call), 0);
}

/** An upgrade of READY enters three times: the call and two library calls. */
function runsOfCall({ entrypoint, calldata }: ScenarioCall): number {
  if ('execution' in calldata) return 1 + runsOfCalls(calldata.execution);
  return entrypoint === 'upgrade' ? 3 : 1;
}
