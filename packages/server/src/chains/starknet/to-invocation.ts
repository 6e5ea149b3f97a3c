import type { RawInvoke } from './raw-invoke.ts';

/** A transaction in the words in which starknet.js wants one to estimate. */
export function toInvocation(raw: RawInvoke) {
  const { l1_gas, l1_data_gas, l2_gas } = raw.resource_bounds;
  const bounds = ({ max_amount, max_price_per_unit }: typeof l1_gas) => ({
    max_amount: BigInt(max_amount),
    max_price_per_unit: BigInt(max_price_per_unit),
  });
  return {
    type: 'INVOKE' as const,
    contractAddress: raw.sender_address,
    calldata: raw.calldata,
    signature: raw.signature,
    version: raw.version,
    nonce: raw.nonce,
    tip: raw.tip,
    paymasterData: raw.paymaster_data,
    accountDeploymentData: raw.account_deployment_data,
    nonceDataAvailabilityMode: raw.nonce_data_availability_mode,
    feeDataAvailabilityMode: raw.fee_data_availability_mode,
    resourceBounds: { l1_gas: bounds(l1_gas), l1_data_gas: bounds(l1_data_gas), l2_gas: bounds(l2_gas) },
  };
}
