import { generate } from './generated/generate.ts';
import { listScenarios } from './lists.ts';
import type { Scenario } from './model.ts';
import { nestedScenarios } from './nested.ts';
import { outsideScenarios } from './outside.ts';
import { ownerScenarios } from './owner.ts';
import { policyScenarios } from './policies.ts';
import { sessionTermScenarios } from './session-terms.ts';
import { sessionScenarios } from './sessions.ts';
import { signatureScenarios } from './signatures.ts';
import { upgradeScenarios } from './upgrade.ts';
import { windowScenarios } from './windows.ts';

/** Together these reach every revert reason. */
const SEEDS = [3, 5, 8, 10, 18, 25, 28];

/** Run in the sandbox and in the contract's Cairo tests. */
export const scenarios: readonly Scenario[] = [
  ...ownerScenarios,
  ...outsideScenarios,
  ...signatureScenarios,
  ...nestedScenarios,
  ...sessionScenarios,
  ...sessionTermScenarios,
  ...listScenarios,
  ...windowScenarios,
  ...policyScenarios,
  ...upgradeScenarios,
  ...SEEDS.map(generate),
];
