/** Some runtimes at the edge have no cookies and refuse the option. */
export function withoutCookies(): { credentials?: 'omit' } {
  return 'credentials' in Request.prototype ? { credentials: 'omit' } : {};
}
