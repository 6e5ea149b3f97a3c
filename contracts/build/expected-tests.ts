import type { Bundle, SourceLine } from './bundle.ts';

const TEST = /^\s*#\[test\]\s*$/;
const ATTRIBUTE = /^\s*(#\[|\/\/)/;
const FUNCTION = /^\s*fn (\w+)\s*\(/;

export interface ExpectedTest {
  /** Below the crate: `tests::sessions::end_at_the_second_that_they_name`. */
  readonly path: string;
  readonly line: SourceLine;
}

/** The tests in the source, to detect one that did not run. */
export function expectedTests(bundle: Bundle, filter = ''): ExpectedTest[] {
  return bundle
    .flatMap((line, index) => (TEST.test(line.text) ? [testAfter(bundle, index)] : []))
    .filter(({ path }) => path.includes(filter));
}

function testAfter(bundle: Bundle, index: number): ExpectedTest {
  const line = bundle.slice(index + 1).find(({ text }) => !ATTRIBUTE.test(text));
  const name = line && FUNCTION.exec(line.text)?.[1];
  if (!line || !name) throw new Error(`No function follows #[test] in ${bundle[index]?.file}:${bundle[index]?.line}.`);
  return { path: `${line.module}::${name}`, line };
}
