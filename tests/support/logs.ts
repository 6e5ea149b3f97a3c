const ERROR_LEVEL = 50;

/** The lines of the log among everything that a process printed. */
export function logLines(output: string): Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    try {
      return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
    } catch {
      return [];
    }
  });
}

/** Those that tell of a fault of ours. */
export function errorLines(output: string): Record<string, unknown>[] {
  return logLines(output).filter(({ level }) => typeof level === 'number' && level >= ERROR_LEVEL);
}
