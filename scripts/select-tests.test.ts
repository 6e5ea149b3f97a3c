import { expect, it } from 'vitest';
import { selectTests, type TestFile } from './select-tests.ts';

const GIFTS = 'packages/server/src/gifts';
const unit = (file: string): TestFile => ({ file, tier: 'unit' });
const db = (file: string): TestFile => ({ file, tier: 'db' });
const many = Array.from({ length: 100 }, (_, index) => db(`packages/server/src/relayer/${index}.db.test.ts`));

it('tests of the changed folder come before those that only import it, fast ones first', () => {
  const related = [
    db('packages/server/src/a.db.test.ts'),
    db(`${GIFTS}/claim.db.test.ts`),
    unit(`${GIFTS}/gift.test.ts`),
  ];
  expect(selectTests(related, [`${GIFTS}/claim.ts`], 60)).toEqual({
    run: [`${GIFTS}/gift.test.ts`, `${GIFTS}/claim.db.test.ts`, 'packages/server/src/a.db.test.ts'],
    left: [],
  });
});

it('a budget bounds what runs, and the rest is named', () => {
  const { run, left } = selectTests(many, ['packages/server/src/http/call.ts'], 13.5);
  expect(run).toHaveLength(10);
  expect(left).toHaveLength(90);
});

it('one test file runs however small the budget is', () => {
  expect(selectTests(many, ['packages/server/src/http/call.ts'], 0).run).toHaveLength(1);
});

it('a test of a slow tier runs only where it changed itself', () => {
  const related = ['tests/gifts/claims.test.ts', 'tests/gifts/mail.test.ts'].map((file) => ({ file, tier: 'service' }));
  expect(selectTests(related, ['tests/gifts/mail.test.ts'], 60)).toEqual({
    run: ['tests/gifts/mail.test.ts'],
    left: ['tests/gifts/claims.test.ts'],
  });
});

it('nothing related is nothing to run', () => {
  expect(selectTests([], ['README.md'], 60)).toEqual({ run: [], left: [] });
});
