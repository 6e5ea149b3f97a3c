import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  stringifySearchWith,
} from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { Skeleton } from '../ui/page.tsx';
import { Layout } from './layout.tsx';
import { basePath } from './place.ts';

const root = createRootRoute({ component: Layout });

type Load = () => Promise<{ default: ComponentType }>;

const pages: readonly (readonly [path: string, load: Load])[] = [
  ['/', () => import('./pages/overview.tsx')],
  ['/blocks', () => import('./pages/blocks.tsx')],
  ['/block/$id', () => import('./pages/block.tsx')],
  ['/transactions', () => import('./pages/transactions.tsx')],
  ['/tx/$hash', () => import('./pages/transaction.tsx')],
  ['/accounts', () => import('./pages/accounts.tsx')],
  ['/account/$address', () => import('./pages/account.tsx')],
  ['/tokens', () => import('./pages/tokens.tsx')],
  ['/class/$hash', () => import('./pages/class.tsx')],
  ['/search', () => import('./pages/search.tsx')],
  ['$', () => import('./pages/not-found.tsx')],
];

const routes = pages.map(([path, load]) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) }),
);

export const createExplorerRouter = () =>
  createRouter({
    routeTree: root.addChildren(routes),
    basepath: basePath,
    scrollRestoration: true,
    // Search values stay the texts that they are.
    parseSearch: parseSearchWith((text) => text),
    stringifySearch: stringifySearchWith((value: unknown) => String(value)),
    defaultPendingComponent: () => <Skeleton lines={8} />,
  });
