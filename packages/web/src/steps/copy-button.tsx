import { type ReactNode, useState } from 'react';
import { usePage } from './page-context.ts';

/** Where the clipboard is blocked, the text can still be selected by hand. */
export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }): ReactNode {
  const { texts } = usePage();
  const [copied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <p className="copy">
      <button type="button" className="quiet" onClick={copy}>
        {label ?? texts.done.copy}
      </button>
      <span role="status">{copied ? texts.done.copied : ''}</span>
    </p>
  );
}
