import { CommanderError } from 'commander';

/** 2 and above tell a script what to do: correct the command, or try again later. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, unreachable: 3, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Its message says what is wrong and what to do. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, exitCode: ExitCode = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.exitCode = exitCode;
  }
}

export const usage = (message: string): CliError => new CliError('usage', message, exitCodes.usage);

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  readonly requestId?: string | undefined;
}

const WITHOUT_ACCESS = new Set(['missing_credentials', 'invalid_credentials', 'secret_key_required']);
const TOKEN_HINT = 'Check OPERATOR_TOKEN.';
const WITHOUT_TOKEN = new Set(['sign_in_required', 'operator_required', 'invalid_token']);
const KEYS_HINT = 'Check the keys: svc status shows where they come from.';

export function explain(error: unknown): Failure {
  if (error instanceof CliError) return { code: error.code, message: error.message, exitCode: error.exitCode };
  if (error instanceof CommanderError) {
    return {
      code: 'usage',
      message: sentence(error.message.replace(/^error: /, '').replaceAll('\n', ' ')),
      exitCode: exitCodes.usage,
    };
  }
  if (!(error instanceof Error)) return unexpected(String(error));
  if (isFileError(error)) return { code: error.code, message: fileMessage(error), exitCode: exitCodes.failed };
  // By name: a bundle can contain the classes of the client library twice.
  if (!/^Svc\w*Error$/.test(error.name)) return unexpected(error.message, error);
  const code = 'code' in error ? String(error.code) : 'error';
  const requestId = 'requestId' in error && typeof error.requestId === 'string' ? error.requestId : undefined;
  return { code, message: messageOf(error, code), exitCode: exitCodeOf(error.name), requestId };
}

function messageOf({ name, message }: Error, code: string): string {
  if (name === 'SvcConnectionError' && code !== 'invalid_answer') {
    return `${message} Is the service running? Start it with svc dev, or set SVC_BASE_URL to its address.`;
  }
  if (WITHOUT_TOKEN.has(code)) return `${message} ${TOKEN_HINT}`;
  return WITHOUT_ACCESS.has(code) ? `${message} ${KEYS_HINT}` : message;
}

function exitCodeOf(name: string): ExitCode {
  if (name === 'SvcConnectionError') return exitCodes.unreachable;
  return name === 'SvcInputError' ? exitCodes.usage : exitCodes.failed;
}

const unexpected = (message: string, cause?: Error): Failure => ({
  code: 'unexpected',
  message: process.env.DEBUG ? (cause?.stack ?? message) : `${sentence(message)} Set DEBUG=1 to see where.`,
  exitCode: exitCodes.failed,
});

const sentence = (text: string): string => {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?)]$/.test(trimmed) ? '' : '.'}`;
};

interface FileError extends Error {
  readonly code: string;
  readonly path: string;
}

const isFileError = (error: Error): error is FileError =>
  'code' in error && 'path' in error && 'syscall' in error && typeof error.path === 'string';

const fileProblems: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Check its path',
  EACCES: 'cannot be opened. Check its permissions',
  EISDIR: 'is a folder. Name a file',
  ENOTDIR: 'is not in a folder. Check its path',
  ENOSPC: 'cannot be written: the disk is full',
};

const fileMessage = ({ code, path }: FileError): string => `${path} ${fileProblems[code] ?? `failed (${code})`}.`;
