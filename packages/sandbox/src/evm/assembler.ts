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
/** PUSHn, the instruction that is followed by n bytes, is PUSH0 + n. */
const PUSH0 = 0x5f;
const WORD_BYTES = 32;
/** Two bytes reach every place of the largest contract that the EVM allows (24,576 bytes). */
const LABEL_BYTES = 2;
const MAX_CODE_BYTES = 24_576;

type Piece = readonly number[] | { readonly label: string };

/**
 * EVM code from words separated by white space, in the order in which they run: a mnemonic, a number (pushed in as few
 * bytes as it needs), `name:` (a place to jump to) or `@name` (pushes that place). `;` starts a comment.
 *
 *   assemble('6 0 MSTORE 32 0 RETURN')   // answers the word 6
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
