import { type ResourceBounds, toHex } from '@svc/starknet';
import type { Transaction } from '../execution/types.ts';

/** A transaction as JSON-RPC spells it, without its hash. */
export interface ShownTransaction {
  readonly type: Transaction['type'];
  readonly [field: string]: unknown;
}

export function showTransaction(tx: Transaction): ShownTransaction {
  return { type: tx.type, ...ownFields(tx), ...commonFields(tx) };
}

function ownFields(tx: Transaction): Record<string, unknown> {
  switch (tx.type) {
    case 'INVOKE':
      return {
        sender_address: toHex(tx.sender),
        calldata: tx.calldata.map(toHex),
        account_deployment_data: tx.accountDeploymentData.map(toHex),
      };
    case 'DEPLOY_ACCOUNT':
      return {
        class_hash: toHex(tx.classHash),
        contract_address_salt: toHex(tx.salt),
        constructor_calldata: tx.constructorCalldata.map(toHex),
      };
    case 'DECLARE':
      return {
        sender_address: toHex(tx.sender),
        class_hash: toHex(tx.classHash),
        compiled_class_hash: toHex(tx.compiledClassHash),
        account_deployment_data: tx.accountDeploymentData.map(toHex),
      };
  }
}

function commonFields(tx: Transaction): Record<string, unknown> {
  const { l1Gas, l1DataGas, l2Gas } = tx.resourceBounds;
  return {
    version: toHex(tx.version),
    signature: tx.signature.map(toHex),
    nonce: toHex(tx.nonce),
    resource_bounds: { l1_gas: showBounds(l1Gas), l1_data_gas: showBounds(l1DataGas), l2_gas: showBounds(l2Gas) },
    tip: toHex(tx.tip),
    paymaster_data: tx.paymasterData.map(toHex),
    nonce_data_availability_mode: tx.nonceDataAvailabilityMode === 0 ? 'L1' : 'L2',
    fee_data_availability_mode: tx.feeDataAvailabilityMode === 0 ? 'L1' : 'L2',
  };
}

function showBounds({ maxAmount, maxPricePerUnit }: ResourceBounds) {
  return { max_amount: toHex(maxAmount), max_price_per_unit: toHex(maxPricePerUnit) };
}
