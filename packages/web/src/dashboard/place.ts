/** Of this script: `…/dashboard/assets/name.js`, below any path prefix of a proxy. */
const script = import.meta.url;

/** `/dashboard`, with the prefix. */
export const basePath: string = new URL('..', script).pathname.replace(/\/$/, '');

/** The interface is next to the dashboard. */
export const apiUrl: string = new URL('../../v1', script).href;

/** What exists in development only. */
export const sandboxUrl: string = new URL('../../sandbox', script).href;

/** Of development's chain. */
export const explorerUrl: string = new URL('../../sandbox/explorer', script).href;
