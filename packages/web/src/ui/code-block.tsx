import { CopyButton } from './values.tsx';

/** Code or JSON, copyable. Objects are printed with indentation. */
export function CodeBlock({ value, label }: { value: unknown; label: string }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard */}
      <section className="code-scroll" tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <CopyButton value={text} label={label} />
    </div>
  );
}
