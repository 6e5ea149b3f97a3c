/** Each page with its HTML file. */
export const entries = {
  claim: 'index.html',
  wallet: 'wallet.html',
  dashboard: 'dashboard.html',
  explorer: 'explorer.html',
  home: 'home.html',
  notFound: 'not-found.html',
  docs: 'docs.html',
} as const;

export type PageName = keyof typeof entries;
