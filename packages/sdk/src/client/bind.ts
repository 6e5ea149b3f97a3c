import type { Client } from './client.ts';

/** Makes operations of `client` into functions that need not be told of it. */
export type Bind = <Args extends unknown[], Result>(
  operation: (client: Client, ...args: Args) => Result,
) => (...args: Args) => Result;

export const bind =
  (client: Client): Bind =>
  (operation) =>
  (...args) =>
    operation(client, ...args);
