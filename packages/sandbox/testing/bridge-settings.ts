import type { BridgeSettings } from '../src/bridge/settings.ts';

/** What a new sandbox starts with. */
export const testSettings: BridgeSettings = {
  indexedSeconds: 2,
  fastSeconds: 8,
  standardSeconds: 28_800,
  forwardSeconds: 2,
  fastFeePerMillion: 130,
  forwardFee: 0,
  requestsPerSecond: 35,
};
