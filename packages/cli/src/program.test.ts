import { spawnSync } from 'node:child_process';
import { SvcApiError, SvcConnectionError, SvcInputError } from '@svc/sdk';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { findingsOf, nodeVersion } from './commands/doctor.ts';
import { completionScript, completionSteps } from './completion.ts';
import { exitCodes, explain, usage } from './failure.ts';
import { createProgram, everyCommand } from './program.ts';

const program = createProgram('0.0.0');

describe('the commands', () => {
  it('each say what they do, and have an action or commands below them', () => {
    for (const command of everyCommand(program)) {
      expect(command.description(), command.name()).not.toBe('');
      const hasAction = '_actionHandler' in command && command._actionHandler !== null;
      expect(hasAction || command.commands.length > 0, command.name()).toBe(true);
    }
  });

  it('have names and options that do not hide those of all commands', () => {
    const globals = new Set(program.options.map(({ long }) => long));
    for (const command of everyCommand(program).filter((one) => one !== program)) {
      expect(command.options.filter(({ long }) => globals.has(long)).map(({ long }) => long)).toEqual([]);
    }
  });
});

describe('the completion', () => {
  const steps = completionSteps(program);
  const wordsOf = (path: string) => steps.find((step) => step.path === path)?.words.map(({ word }) => word);

  it('knows every command, option and choice', () => {
    expect(wordsOf('')).toEqual(expect.arrayContaining(['status', 'wallets', '--json']));
    expect(wordsOf('keys create')).toEqual(expect.arrayContaining(['public', 'secret', '--json']));
    expect(wordsOf('wallets')).toEqual(expect.arrayContaining(['list', '--search', '--all']));
    expect(wordsOf('time')).toEqual(expect.arrayContaining(['travel', 'reset']));
  });

  it('is a script that bash runs and answers with', () => {
    const ask = (...words: string[]) => {
      const script = `${completionScript(program, 'bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _svc; echo "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    };
    expect(ask('svc', 'stat').stdout.trim()).toBe('status');
    expect(ask('svc', '--json', 'keys', 'create', 'p').stdout.trim()).toBe('public');
    expect(ask('svc', 'time', 'tr').stderr).toBe('');
  });

  it('quotes what it contains for zsh and fish', () => {
    for (const shell of ['zsh', 'fish'] as const) {
      const script = completionScript(program, shell);
      expect(script).toContain("development'\\''s chain");
    }
  });
});

describe('a failure', () => {
  it('has an exit code that tells a script what to do', () => {
    const of = (error: unknown) => explain(error).exitCode;
    expect(of(usage('Wrong.'))).toBe(exitCodes.usage);
    expect(of(new CommanderError(1, 'commander.unknownOption', "error: unknown option '--x'"))).toBe(exitCodes.usage);
    expect(of(new SvcInputError('invalid_input', 'No.'))).toBe(exitCodes.usage);
    expect(of(new SvcApiError('gift_not_found', 'No.', { status: 404 }))).toBe(exitCodes.failed);
    expect(of(new SvcConnectionError('timeout', 'No.'))).toBe(exitCodes.unreachable);
    expect(of(new Error('bug'))).toBe(exitCodes.failed);
  });

  it('is one sentence with what to do, and the request where there was one', () => {
    const refused = new SvcApiError('invalid_credentials', 'The keys are not valid.', { status: 401, requestId: 'r1' });
    expect(explain(refused)).toMatchObject({ message: expect.stringMatching(/svc status/), requestId: 'r1' });
    const missing = Object.assign(new Error('x'), { code: 'ENOENT', path: 'people.csv', syscall: 'open' });
    expect(explain(missing).message).toBe('people.csv does not exist. Check its path.');
  });
});

describe('the doctor', () => {
  it('says how to fix every word that is not ok', () => {
    const findings = findingsOf({ database: 'unreachable', stopping: false, proxy: 'untrusted', relayers: 'low' });
    expect(findings.map(({ level }) => level)).toEqual(['failing', 'ok', 'warning', 'warning']);
    expect(findings[0]?.fix).toMatch(/DATABASE_URL/);
    expect(findings.filter(({ level, fix }) => level !== 'ok' && fix === undefined)).toEqual([]);
  });

  it('compares versions of Node as numbers', () => {
    expect(nodeVersion('22.9.0').level).toBe('warning');
    expect(nodeVersion('22.18.0').level).toBe('ok');
    expect(nodeVersion('100.0.0').level).toBe('ok');
  });
});
