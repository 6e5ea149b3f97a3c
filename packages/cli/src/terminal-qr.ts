import { encodeQR } from 'qr';

/** Two modules in a character: a phone reads it from a terminal of 24 lines. */
export function terminalQr(text: string): string {
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: 2 });
  const lines: string[] = [];
  for (let at = 0; at < rows.length; at += 2) {
    const upper = rows[at] ?? [];
    lines.push(upper.map((isDark, column) => half(isDark, rows[at + 1]?.[column] ?? false)).join(''));
  }
  return lines.join('\n');
}

/** Light modules are drawn: most terminals are dark, and readers want dark on light. */
const half = (upper: boolean, lower: boolean): string => {
  if (upper) return lower ? ' ' : '▄';
  return lower ? '▀' : '█';
};
