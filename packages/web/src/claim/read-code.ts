/** The code at the end of the page's address; empty where a person came without one. */
export function readCode(pathname: string): string {
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
