import { chainIds, outsideExecutionTypedData, selector } from '@svc/starknet';
import { type TypedData, typedData } from 'starknet';

const hex = (felt: bigint) => `0x${felt.toString(16)}`;

const ACCOUNT = 0x1a2b3cn;
const CALLS = [
  { to: 0xabcn, selector: selector('transfer'), calldata: [0x123n, 5n, 0n] },
  { to: 0xdefn, selector: selector('approve'), calldata: [] },
];

/** Compares the player's hash and the contract's with starknet.js, an independent implementation. */
export function hashVectors(): string {
  const execution = { caller: 0x77n, nonce: 0x88n, executeAfter: 100n, executeBefore: 5_000n, calls: CALLS };
  const message = outsideExecutionTypedData(execution, chainIds.SVC_SANDBOX) as TypedData;
  const expected = typedData.getMessageHash(message, hex(ACCOUNT));
  const calls = CALLS.map(
    ({ to, selector: of, calldata }) =>
      `Call { to: ${hex(to)}.try_into().unwrap(), selector: ${hex(of)}, calldata: array![${calldata.map(hex).join(', ')}].span() }`,
  );
  return `

use starknet::account::Call;

#[test]
fn the_hash_of_the_player_is_that_of_starknet_js() {
    let calls = array![${calls.join(', ')}];
    let execution = super::snip12::execution_hash(0x77, 0x88, 100, 5000, calls.span());
    let found = super::snip12::message_hash(execution, ${hex(chainIds.SVC_SANDBOX)}, ${hex(ACCOUNT)});
    assert(found == ${expected}, 'the hash differs');
}
`;
}
