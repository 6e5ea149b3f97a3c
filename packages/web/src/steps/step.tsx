import { type ReactNode, useEffect, useRef } from 'react';

interface StepProps {
  readonly title: string;
  readonly children: ReactNode;
  /** False for the first step of a visit: the focus stays where the browser put it. */
  readonly takesFocus: boolean;
}

/** Moves the focus to its title, so that screen readers announce it and Tab continues from there. */
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
