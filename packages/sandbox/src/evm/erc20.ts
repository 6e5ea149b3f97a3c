import { assemble } from './assembler.ts';

/** The first four bytes of the hash of each function's signature. */
export const selectors = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  totalSupply: '0x18160ddd',
  balanceOf: '0x70a08231',
  allowance: '0xdd62ed3e',
  transfer: '0xa9059cbb',
  approve: '0x095ea7b3',
  transferFrom: '0x23b872dd',
  mint: '0x40c10f19',
} as const;

export const topics = {
  Transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  Approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
} as const;

/** The mappings lie where Solidity puts those of the first two variables, so that tools which look into storage find them. */
const BALANCES = 0;
const ALLOWANCES = 1;
const TOTAL_SUPPLY = 2;

/** `Error(string)`, the form in which Solidity gives the reason of a revert. */
const ERROR_SELECTOR = 0x08c379a0n;

// Each of these takes its operands from the stack and leaves its result there.
const amount = (index: number) => `${4 + 32 * index} CALLDATALOAD`;
const address = (index: number) => `${4 + 32 * index} CALLDATALOAD DUP1 160 SHR @refuse JUMPI`;
const takes = (count: number) => `${4 + 32 * count} CALLDATASIZE LT @refuse JUMPI`;
const balanceSlot = `0 MSTORE ${BALANCES} 32 MSTORE 64 0 KECCAK256`;
/** From the spender and, on top of it, the owner. */
const allowanceSlot = `0 MSTORE ${ALLOWANCES} 32 MSTORE 64 0 KECCAK256 32 MSTORE 0 MSTORE 64 0 KECCAK256`;

/** Stores a string as the ABI has it, from `start` on: the offset 32, the length, the bytes. */
function storeText(start: number, text: string): { code: string; end: number } {
  const bytes = Buffer.from(text);
  const words = Array.from({ length: Math.ceil(bytes.length / 32) }, (_, index) => {
    const word = Buffer.alloc(32);
    bytes.copy(word, 0, index * 32);
    return `0x${word.toString('hex')} ${start + 64 + index * 32} MSTORE`;
  });
  return {
    code: `32 ${start} MSTORE ${bytes.length} ${start + 32} MSTORE ${words.join(' ')}`,
    end: start + 64 + words.length * 32,
  };
}

function answerText(text: string): string {
  const { code, end } = storeText(0, text);
  return `${code} ${end} 0 RETURN`;
}

function revertWith(reason: string): string {
  const { code, end } = storeText(4, reason);
  return `${ERROR_SELECTOR << 224n} 0 MSTORE ${code} ${end} 0 REVERT`;
}

const dispatcher = `
  CALLVALUE @refuse JUMPI
  4 CALLDATASIZE LT @refuse JUMPI
  0 CALLDATALOAD 224 SHR
  ${Object.entries(selectors)
    .map(([name, selector]) => `DUP1 ${selector} EQ @${name} JUMPI`)
    .join('\n  ')}
  refuse: 0 0 REVERT
  answer: 0 MSTORE 32 0 RETURN
  done: 1 @answer JUMP
`;

const readers = `
  totalSupply: ${TOTAL_SUPPLY} SLOAD @answer JUMP
  balanceOf: ${takes(1)} ${address(0)} ${balanceSlot} SLOAD @answer JUMP
  allowance: ${takes(2)} ${address(1)} ${address(0)} ${allowanceSlot} SLOAD @answer JUMP
`;

// The comments show the stack after their line, its top on the right.
const writers = `
  transfer:
    ${takes(2)} ${amount(1)} ${address(0)} CALLER       ; amount to from
  move:
    DUP2 ISZERO @toNobody JUMPI
    DUP1 ${balanceSlot} DUP1 SLOAD                      ; amount to from slot balance
    DUP5 DUP2 LT @tooLittle JUMPI
    DUP5 SWAP1 SUB SWAP1 SSTORE                         ; amount to from
    DUP2 ${balanceSlot} DUP1 SLOAD                      ; amount to from slot balance
    DUP5 ADD SWAP1 SSTORE                               ; amount to from
    DUP3 0 MSTORE ${topics.Transfer} 32 0 LOG3          ; amount
    @done JUMP

  approve:
    ${takes(2)} ${amount(1)} ${address(0)}              ; amount spender
    DUP1 CALLER ${allowanceSlot}                        ; amount spender slot
    DUP3 SWAP1 SSTORE                                   ; amount spender
    SWAP1 0 MSTORE                                      ; spender
    CALLER ${topics.Approval} 32 0 LOG3
    @done JUMP

  transferFrom:
    ${takes(3)} ${amount(2)} ${address(1)} ${address(0)} ; amount to from
    CALLER DUP2 ${allowanceSlot} DUP1 SLOAD             ; amount to from slot allowance
    DUP1 NOT ISZERO @unlimited JUMPI
    DUP5 DUP2 LT @notAllowed JUMPI
    DUP5 SWAP1 SUB SWAP1 SSTORE                         ; amount to from
    @move JUMP
  unlimited:                                            ; by convention, the largest allowance is never used up
    POP POP @move JUMP
`;

const mint = (faucet: string) => `
  mint:
    CALLER ${faucet} XOR @refuse JUMPI
    ${takes(2)} ${amount(1)} ${address(0)}              ; amount to
    DUP1 ISZERO @toNobody JUMPI
    ${TOTAL_SUPPLY} SLOAD DUP3 ADD                      ; amount to supply
    DUP3 DUP2 LT @tooMuch JUMPI
    ${TOTAL_SUPPLY} SSTORE                              ; amount to
    DUP1 ${balanceSlot} DUP1 SLOAD DUP4 ADD SWAP1 SSTORE
    SWAP1 0 MSTORE                                      ; to
    0 ${topics.Transfer} 32 0 LOG3
    @done JUMP
`;

const refusals = `
  toNobody: ${revertWith('ERC20: transfer to the zero address')}
  tooLittle: ${revertWith('ERC20: transfer amount exceeds balance')}
  notAllowed: ${revertWith('ERC20: insufficient allowance')}
  tooMuch: ${revertWith('ERC20: total supply is full')}
`;

/** The code of a token contract. What never changes is in the code itself, because a genesis account has no storage. */
export function erc20Code(token: { name: string; symbol: string; decimals: number; faucet: string }): Uint8Array {
  return assemble(`
    ${dispatcher} ${readers} ${writers} ${mint(token.faucet)} ${refusals}
    name: ${answerText(token.name)}
    symbol: ${answerText(token.symbol)}
    decimals: ${token.decimals} @answer JUMP
  `);
}
