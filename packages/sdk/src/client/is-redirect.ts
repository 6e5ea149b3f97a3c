/** Browsers hide the status of an answer that leads elsewhere and say so in its type. */
export function isRedirect({ type, status }: Pick<Response, 'type' | 'status'>): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}
