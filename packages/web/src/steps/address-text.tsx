import type { ReactNode } from 'react';

const SHOWN = 6;

/** An address or a hash, its ends set off: those are what people compare. */
export function AddressText({ text }: { readonly text: string }): ReactNode {
  if (text.length <= 2 * SHOWN) return <code className="address">{text}</code>;
  return (
    <code className="address">
      <b>{text.slice(0, SHOWN)}</b>
      {text.slice(SHOWN, -SHOWN)}
      <b>{text.slice(-SHOWN)}</b>
    </code>
  );
}
