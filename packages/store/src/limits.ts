// A request's statement takes milliseconds; half a minute means that something is wrong.
export const STATEMENT_TIMEOUT_MS = 30_000;
// Longer than the server's own limit: it only fires when the server or the network has gone silent.
export const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;
// Covers reaching the server and waiting for a free connection of the pool.
export const CONNECT_TIMEOUT_MS = 10_000;
