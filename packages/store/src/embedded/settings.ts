/** Fit for a laptop beside other programs, and safe: what was acknowledged survives a power cut. */
const DEFAULTS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '100',
  shared_buffers: '128MB',
  min_wal_size: '64MB',
  max_wal_size: '512MB',
  // Short statements only: compiling them costs more than it saves.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Refused statements are the service's to report; here they would put values of users into a file.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

/** Loopback TCP and the password are the only way in; no caller's setting changes that. */
const WAY_IN: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
};

export function serverArguments(data: string, port: number, overrides: Readonly<Record<string, string>>): string[] {
  const settings = { ...DEFAULTS, ...overrides, ...WAY_IN, port: String(port) };
  return ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
