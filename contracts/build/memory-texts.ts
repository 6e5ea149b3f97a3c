/** Node's Buffer search is limited to 2 GiB. */
const PART_BYTES = 2 ** 30;
/** Longer than any report or message. */
const MAX_TEXT_BYTES = 2 ** 20;

const NEWLINE = 10;

function isText(byte: number | undefined): boolean {
  return byte === NEWLINE || byte === 9 || (byte !== undefined && byte >= 32 && byte < 127);
}

function* occurrences(memory: Uint8Array, needle: string): Generator<number> {
  for (let start = 0; start < memory.length; start += PART_BYTES) {
    const end = Math.min(memory.length, start + PART_BYTES + needle.length - 1);
    const part = Buffer.from(memory.buffer, memory.byteOffset + start, end - start);
    for (let at = part.indexOf(needle); at !== -1; at = part.indexOf(needle, at + 1)) yield start + at;
  }
}

function textFrom(memory: Uint8Array, start: number): string {
  let end = start;
  while (end - start < MAX_TEXT_BYTES && isText(memory[end])) end += 1;
  return Buffer.from(memory.buffer, memory.byteOffset + start, end - start).toString('latin1');
}

function textStart(memory: Uint8Array, at: number): number {
  let start = at;
  while (at - start < MAX_TEXT_BYTES && start > 0 && isText(memory[start - 1])) start -= 1;
  return start;
}

const REPORT_START = 'Cairo Test outputs: \n';
const REPORT_END = /^test result: .*$/m;

/**
 * Every complete copy of the growing test report: freed memory is partly overwritten. The last one ends with the summary that the
 * compiler also returns.
 */
export function findReports(memory: Uint8Array): string[] {
  const whole = new Set<string>();
  for (const at of occurrences(memory, REPORT_START)) {
    const text = textFrom(memory, at + REPORT_START.length);
    const end = REPORT_END.exec(text);
    if (end) whole.add(text.slice(0, end.index + end[0].length));
  }
  return [...whole];
}

const PLACE = /^ --> (lib\.cairo:\d+:\d+)$/m;

/**
 * Message, position, line and marks of each diagnostic. Freed memory has lost its first bytes, and with them the word "error" or
 * "warning"; of several copies the longest is used.
 */
export function findDiagnostics(memory: Uint8Array): string[] {
  const found = new Map<string, string>();
  for (const at of occurrences(memory, '\n --> lib.cairo:')) {
    const start = textStart(memory, at);
    const [message = '', ...lines] = textFrom(memory, start)
      .slice(at - start > 0 ? 0 : 1)
      .split('\n --> ');
    const [place = '', line = '', marks = ''] = (lines[0] ?? '').split('\n');
    const text = [message, ` --> ${place}`, line, marks].join('\n').trimEnd();
    if (PLACE.test(text) && text.length > (found.get(place)?.length ?? 0)) found.set(place, text);
  }
  return [...found.values()];
}
