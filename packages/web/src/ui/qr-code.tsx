import encodeQR from 'qr';
import { useMemo } from 'react';
import { useWords } from './language.ts';
import { words } from './words.ts';

export interface QrCodeProps {
  value: string;
  /** Width in pixels. */
  size?: number;
  /** What the code is, for screen readers. */
  label?: string;
}

/** Dark on white in both colour schemes: some cameras do not read the inverse. */
export function QrCode({ value, size = 160, label }: QrCodeProps) {
  const text = useWords(words);
  const [path, modules] = useMemo(() => {
    const rows = encodeQR(value, 'raw', { ecc: 'medium', border: 2 });
    const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
    return [squares.join(''), rows.length] as const;
  }, [value]);
  return (
    <svg
      className="qr"
      role="img"
      aria-label={label ?? text.qr(value)}
      width={size}
      height={size}
      viewBox={`0 0 ${modules} ${modules}`}
      shapeRendering="crispEdges"
    >
      <rect width={modules} height={modules} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  );
}
