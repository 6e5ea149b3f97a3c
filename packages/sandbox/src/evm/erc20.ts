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

/** Storage slots as Solidity assigns them, for tools that read storage. */
const BALANCES = 0;
const ALLOWANCES = 1;
const TOTAL_SUPPLY = 2;

const ERROR_SELECTOR = 0x08c379a0n;

// Macros: operands from the stack, result on the stack.
const amount = (index: number) => `${4 + 32 * index} CALLDATALOAD`;
const address = (index: number) => `${4 + 32 * index} CALLDATALOAD DUP1 160 SHR @refuse JUMPI`;
const takes = (count: number) => `${4 + 32 * count} CALLDATASIZE LT @refuse JUMPI`;
const balanceSlot = `0 MSTORE ${BALANCES} 32 MSTORE 64 0 KECCAK256`;
const allowanceSlot = `0 MSTORE ${ALLOWANCES} 32 MSTORE 64 0 KECCAK256 32 MSTORE 0 MSTORE 64 0 KECCAK256`;

/** Stores an ABI string at `start`: the offset 32, the length, the bytes. */
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
    DUP2 ISZERO @toZero JUMPI
    DUP1 ${balanceSlot} DUP1 SLOAD                      ; amount to from slot balance
    DUP5 DUP2 LT @balanceTooLow JUMPI
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
    DUP5 DUP2 LT @allowanceTooLow JUMPI
    DUP5 SWAP1 SUB SWAP1 SSTORE                         ; amount to from
    @move JUMP
  unlimited:                                            ; by convention, the largest allowance is never used up
    POP POP @move JUMP
`;

const mint = (faucet: string) => `
  mint:
    CALLER ${faucet} XOR @refuse JUMPI
    ${takes(2)} ${amount(1)} ${address(0)}              ; amount to
    DUP1 ISZERO @toZero JUMPI
    ${TOTAL_SUPPLY} SLOAD DUP3 ADD                      ; amount to supply
    DUP3 DUP2 LT @supplyOverflow JUMPI
    ${TOTAL_SUPPLY} SSTORE                              ; amount to
    DUP1 ${balanceSlot} DUP1 SLOAD DUP4 ADD SWAP1 SSTORE
    SWAP1 0 MSTORE                                      ; to
    0 ${topics.Transfer} 32 0 LOG3
    @done JUMP
`;

const refusals = `
  toZero: ${revertWith('ERC20: transfer to the zero address')}
  balanceTooLow: ${revertWith('ERC20: transfer amount exceeds balance')}
  allowanceTooLow: ${revertWith('ERC20: insufficient allowance')}
  supplyOverflow: ${revertWith('ERC20: total supply is full')}
`;

/** Constants are part of the code, because a genesis account has no storage. */
export function erc20Code(token: { name: string; symbol: string; decimals: number; faucet: string }): Uint8Array {
  return assemble(`
    ${dispatcher} ${readers} ${writers} ${mint(token.faucet)} ${refusals}
    name: ${answerText(token.name)}
    symbol: ${answerText(token.symbol)}
    decimals: ${token.decimals} @answer JUMP
  `);
}

// biome-ignore format: a table reads better than forty lines
const OPCODES: Readonly<Record<string, number>> = {
  STOP: 0x00, ADD: 0x01, MUL: 0x02, SUB: 0x03, DIV: 0x04,
  LT: 0x10, GT: 0x11, EQ: 0x14, ISZERO: 0x15, AND: 0x16, OR: 0x17, XOR: 0x18, NOT: 0x19, SHL: 0x1b, SHR: 0x1c,
  KECCAK256: 0x20,
  CALLER: 0x33, CALLVALUE: 0x34, CALLDATALOAD: 0x35, CALLDATASIZE: 0x36,
  POP: 0x50, MLOAD: 0x51, MSTORE: 0x52, SLOAD: 0x54, SSTORE: 0x55, JUMP: 0x56, JUMPI: 0x57,
  DUP1: 0x80, DUP2: 0x81, DUP3: 0x82, DUP4: 0x83, DUP5: 0x84, SWAP1: 0x90, SWAP2: 0x91,
  LOG3: 0xa3, RETURN: 0xf3, REVERT: 0xfd,
};
const JUMPDEST = 0x5b;
const PUSH0 = 0x5f;
const WORD_BYTES = 32;
/** Two bytes address the largest contract that the EVM allows (24,576 bytes). */
const LABEL_BYTES = 2;
const MAX_CODE_BYTES = 24_576;

type Piece = readonly number[] | { readonly label: string };

/**
 * Words run in order: a mnemonic, a number (pushed), `name:` (a jump target) or `@name` (pushes a target). `;` starts a comment.
 * Example: `6 0 MSTORE 32 0 RETURN` answers the word 6.
 */
export function assemble(source: string): Uint8Array {
  const pieces: Piece[] = [];
  const places = new Map<string, number>();
  let size = 0;
  for (const word of source.replace(/;.*$/gm, '').split(/\s+/).filter(Boolean)) {
    if (word.endsWith(':')) define(places, word.slice(0, -1), size);
    const piece = pieceOf(word);
    pieces.push(piece);
    size += 'label' in piece ? 1 + LABEL_BYTES : piece.length;
  }
  if (size > MAX_CODE_BYTES) throw new Error(`The code has ${size} bytes; the EVM allows ${MAX_CODE_BYTES}.`);
  return Uint8Array.from(pieces.flatMap((piece) => ('label' in piece ? pushPlace(places, piece.label) : piece)));
}

function define(places: Map<string, number>, label: string, place: number): void {
  if (places.has(label)) throw new Error(`The label ${label} stands in two places.`);
  places.set(label, place);
}

function pieceOf(word: string): Piece {
  if (word.endsWith(':')) return [JUMPDEST];
  if (word.startsWith('@')) return { label: word.slice(1) };
  if (/^\d/.test(word)) return push(BigInt(word));
  const opcode = OPCODES[word];
  if (opcode === undefined) throw new Error(`${word} is not an instruction that this assembler knows.`);
  return [opcode];
}

function pushPlace(places: ReadonlyMap<string, number>, label: string): readonly number[] {
  const place = places.get(label);
  if (place === undefined) throw new Error(`The label ${label} stands nowhere.`);
  return [PUSH0 + LABEL_BYTES, place >> 8, place & 0xff];
}

function push(value: bigint): readonly number[] {
  const digits = value === 0n ? '' : value.toString(16);
  const bytes = [...Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')];
  if (bytes.length > WORD_BYTES) throw new Error(`${value} does not fit a word of the EVM.`);
  return [PUSH0 + bytes.length, ...bytes];
}
