// A request's statement takes milliseconds; half a minute means a fault.
export const STATEMENT_TIMEOUT_MS = 30_000;
// Covers reaching the server and waiting for a free connection of the pool.
export const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_MARGIN_MS = 5_000;

/** Longer than the server's own limit: fires only when the server or the network is silent. */
export const answerTimeoutMs = (statementTimeoutMs: number): number => statementTimeoutMs + ANSWER_MARGIN_MS;
