interface Changed {
  readonly url?: string | undefined;
  readonly [name: string]: unknown;
}

/** As the audit log keeps it, for ever: the host alone of an address, because paths and queries of such addresses hold secrets at times. */
export function toChanges({ url, ...changes }: Changed): Record<string, unknown> {
  return { ...(url !== undefined && { host: new URL(url).host }), ...changes };
}
