import type { Scenario } from '../../scenarios/model.ts';
import { approvalScenarios } from './approvals.ts';
import { limitScenarios } from './limits.ts';
import { signerScenarios } from './signers.ts';

/** Run in the sandbox and in the treasury's contract. */
export const treasuryScenarios: readonly Scenario[] = [...signerScenarios, ...approvalScenarios, ...limitScenarios];
