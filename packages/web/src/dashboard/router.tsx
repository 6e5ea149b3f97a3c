import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  parseSearchWith,
  stringifySearchWith,
} from '@tanstack/react-router';
import { Skeleton } from '../ui/page.tsx';
import { Layout } from './layout.tsx';
import { type DashboardPage, outsidePages, pages } from './page-table.ts';
import { BrokenPage, NotFoundPage } from './pages/problem.tsx';
import { basePath } from './place.ts';
import { WithNavigation } from './with-navigation.tsx';

const root = createRootRoute({
  component: () => (
    <WithNavigation>
      <Outlet />
    </WithNavigation>
  ),
});
const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Layout });

const insideRoute = ({ path, load }: DashboardPage) =>
  createRoute({ getParentRoute: () => inside, path, component: lazyRouteComponent(load) });
const outsideRoute = ({ path, load }: DashboardPage) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });
const unknown = createRoute({ getParentRoute: () => inside, path: '$', component: NotFoundPage });

/** Search values stay the texts that they are. */
const asText = (value: unknown) => String(value);

export const createDashboardRouter = () =>
  createRouter({
    routeTree: root.addChildren([
      inside.addChildren([...pages.map(insideRoute), unknown]),
      ...outsidePages.map(outsideRoute),
    ]),
    basepath: basePath,
    scrollRestoration: true,
    // A changed filter replaces the address and leaves the page where it is.
    getScrollRestorationKey: ({ pathname, state }) => `${state.__TSR_index}:${pathname}`,
    parseSearch: parseSearchWith((text) => text),
    stringifySearch: stringifySearchWith(asText),
    defaultErrorComponent: BrokenPage,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingComponent: () => <Skeleton lines={8} />,
  });
