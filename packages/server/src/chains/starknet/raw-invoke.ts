import { type InvokeFields, type ResourceBounds, toHex } from '@svc/starknet';

interface RawBounds {
  readonly max_amount: string;
  readonly max_price_per_unit: string;
}

/** An invoke transaction of version 3 as JSON-RPC spells it: what is stored and sent, byte for byte. */
export interface RawInvoke {
  readonly type: 'INVOKE';
  readonly version: '0x3';
  readonly sender_address: string;
  readonly calldata: string[];
  readonly signature: string[];
  readonly nonce: string;
  readonly resource_bounds: {
    readonly l1_gas: RawBounds;
    readonly l1_data_gas: RawBounds;
    readonly l2_gas: RawBounds;
  };
  readonly tip: string;
  readonly paymaster_data: string[];
  readonly account_deployment_data: string[];
  readonly nonce_data_availability_mode: 'L1' | 'L2';
  readonly fee_data_availability_mode: 'L1' | 'L2';
}

export function rawInvoke(fields: Omit<InvokeFields, 'version' | 'chainId'>, signature: readonly bigint[]): RawInvoke {
  const { l1Gas, l1DataGas, l2Gas } = fields.resourceBounds;
  return {
    type: 'INVOKE',
    version: '0x3',
    sender_address: toHex(fields.sender),
    calldata: fields.calldata.map(toHex),
    signature: signature.map(toHex),
    nonce: toHex(fields.nonce),
    resource_bounds: { l1_gas: rawBounds(l1Gas), l1_data_gas: rawBounds(l1DataGas), l2_gas: rawBounds(l2Gas) },
    tip: toHex(fields.tip),
    paymaster_data: fields.paymasterData.map(toHex),
    account_deployment_data: fields.accountDeploymentData.map(toHex),
    nonce_data_availability_mode: fields.nonceDataAvailabilityMode === 0 ? 'L1' : 'L2',
    fee_data_availability_mode: fields.feeDataAvailabilityMode === 0 ? 'L1' : 'L2',
  };
}

function rawBounds({ maxAmount, maxPricePerUnit }: ResourceBounds): RawBounds {
  return { max_amount: toHex(maxAmount), max_price_per_unit: toHex(maxPricePerUnit) };
}
