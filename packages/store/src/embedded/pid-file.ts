import { readFileSync, readlinkSync, rmSync } from 'node:fs';
import path from 'node:path';

const PID_LINE = 0;
const PORT_LINE = 3;
const STATUS_LINE = 7;

export interface PidFile {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

export function readPidFile(data: string): PidFile | undefined {
  let lines: string[];
  try {
    lines = readFileSync(fileIn(data), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[PID_LINE]);
  const port = Number(lines[PORT_LINE]);
  const ready = lines[STATUS_LINE]?.trim() === 'ready';
  return Number.isInteger(pid) && pid > 0 ? { pid, port: port > 0 ? port : 0, ready } : undefined;
}

export function removePidFile(data: string, pid: number): void {
  if (readPidFile(data)?.pid === pid) rmSync(fileIn(data), { force: true });
}

/** The process id may be reused after a power cut or in a new container. 'perhaps' where the kernel does not tell. */
export function serves(pid: number, data: string): 'yes' | 'no' | 'gone' | 'perhaps' {
  if (!isAlive(pid)) return 'gone';
  if (process.platform !== 'linux') return 'perhaps';
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === data ? 'yes' : 'no';
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'no' : 'perhaps';
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function fileIn(data: string): string {
  return path.join(data, 'postmaster.pid');
}
