import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fillIn, readGuide } from './guide.ts';

const guide = readGuide(readFileSync(path.resolve(import.meta.dirname, '../../docs/first-app.md'), 'utf8'));

describe('the guide to the first app', () => {
  it('has the commands of each step', () => {
    expect(guide.commands(1)).toBe('git clone <this repository> svc\ncd svc\nnpm start\n');
    expect(guide.commands(2)).toContain('npm create vite');
    expect(guide.commands(4, 1)).toContain('node hook.mjs');
    expect(() => guide.commands(1, 1)).toThrow('Step 1 of the guide has no commands at place 1.');
  });

  it('has the files of each step, without the line that names them', () => {
    expect([...guide.files(2).keys()]).toEqual(['vite.config.ts', 'src/App.tsx']);
    expect(guide.files(4).get('hook.mjs')).toMatch(/^import /);
    expect(() => guide.files(1)).toThrow('Step 1 of the guide has no files.');
  });

  it('is not filled in where it no longer has what a reader replaces', () => {
    expect(fillIn('listen(3000)', { '3000': '4000' })).toBe('listen(4000)');
    expect(() => fillIn('listen(80)', { '3000': '4000' })).toThrow('The guide no longer says 3000 here');
  });
});
