import { type ReactNode, useEffect, useRef } from 'react';

interface StepProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The first step of a visit leaves the focus where the browser put it. */
  readonly takesFocus: boolean;
}

/** One screen of the page. When it appears, the focus moves to its title, so that a screen reader reads it and Tab goes on from there. */
export function Step({ title, children, takesFocus }: StepProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  const wanted = useRef(takesFocus);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (!wanted.current) return;
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </>
  );
}
