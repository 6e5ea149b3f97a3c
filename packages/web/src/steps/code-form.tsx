import { type FormEvent, type ReactNode, useState } from 'react';
import { usePage } from './page-context.ts';

const CODE = /^[A-Za-z0-9_-]{4,64}$/;

export function CodeForm({ code = '' }: { readonly code?: string }): ReactNode {
  const { texts } = usePage();
  const [text, setText] = useState(code);
  const [isWrong, setWrong] = useState(false);
  const open = (event: FormEvent) => {
    event.preventDefault();
    const next = text.trim();
    if (!CODE.test(next)) return setWrong(true);
    if (next === code) location.reload();
    else location.assign(next);
  };
  return (
    <form onSubmit={open} noValidate>
      <label htmlFor="code">{texts.enterCode.label}</label>
      <input
        id="code"
        value={text}
        onChange={(event) => setText(event.target.value)}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        maxLength={80}
        aria-invalid={isWrong}
        aria-describedby="code-wrong"
      />
      <p id="code-wrong" className="feedback wrong" role="status">
        {isWrong ? texts.enterCode.invalid : ''}
      </p>
      <button type="submit" className="main">
        {texts.enterCode.button}
      </button>
    </form>
  );
}
