import {
  ArrowLeftRight,
  Building2,
  FileClock,
  FlaskConical,
  Gift,
  House,
  KeyRound,
  Landmark,
  ListChecks,
  type LucideIcon,
  Palette,
  ReceiptText,
  ScrollText,
  Server,
  Settings,
  ShoppingBag,
  Store,
  TriangleAlert,
  UserCheck,
  UserRound,
  Users,
  Vault,
  Wallet,
  WalletCards,
  Webhook,
  Zap,
} from 'lucide-react';
import type { ComponentType } from 'react';
import type { words } from './words/shell.ts';

type Group = 'main' | 'developers' | 'settings' | 'sandbox' | 'operator';

export interface DashboardPage {
  readonly name: keyof (typeof words)['en']['pages'];
  /** Below `/dashboard`. */
  readonly path: string;
  readonly load: () => Promise<{ default: ComponentType }>;
  /** Its place in the sidebar; pages without one are opened from others. */
  readonly group?: Group;
  readonly icon?: LucideIcon;
  /** Found by the palette, though not in the sidebar. */
  readonly isFound?: true;
}

// biome-ignore format: one line a page
/** Pages of a signed-in member, in the order of the sidebar. */
export const pages: readonly DashboardPage[] = [
  { name: 'overview', path: '/', group: 'main', icon: House, load: () => import('./pages/overview.tsx') },
  { name: 'wallets', path: '/wallets', group: 'main', icon: Wallet, load: () => import('./pages/wallets.tsx') },
  { name: 'wallet', path: '/wallets/$id', load: () => import('./pages/wallet.tsx') },
  { name: 'transactions', path: '/transactions', group: 'main', icon: ArrowLeftRight, load: () => import('./pages/transactions.tsx') },
  { name: 'transaction', path: '/transactions/$id', load: () => import('./pages/transaction.tsx') },
  { name: 'treasuries', path: '/treasuries', group: 'main', icon: Vault, load: () => import('./pages/treasuries.tsx') },
  { name: 'treasury', path: '/treasuries/$id', load: () => import('./pages/treasury.tsx') },
  { name: 'treasuryProposal', path: '/treasuries/$id/$proposalId', load: () => import('./pages/treasury-proposal.tsx') },
  { name: 'gifts', path: '/gifts', group: 'main', icon: Gift, load: () => import('./pages/gifts.tsx') },
  { name: 'giftNew', path: '/gifts/new', icon: Gift, isFound: true, load: () => import('./pages/gift-new.tsx') },
  { name: 'giftImport', path: '/gifts/import', icon: Gift, isFound: true, load: () => import('./pages/gift-import.tsx') },
  { name: 'giftCards', path: '/gifts/cards', icon: Gift, isFound: true, load: () => import('./pages/gift-cards.tsx') },
  { name: 'gift', path: '/gifts/$id', load: () => import('./pages/gift.tsx') },
  { name: 'redeem', path: '/redeems/$id', load: () => import('./pages/redeem.tsx') },
  { name: 'purchases', path: '/purchases', group: 'main', icon: ShoppingBag, load: () => import('./pages/purchases.tsx') },
  { name: 'purchase', path: '/purchases/$id', load: () => import('./pages/purchase.tsx') },
  { name: 'services', path: '/services', group: 'main', icon: Store, load: () => import('./pages/services.tsx') },
  { name: 'money', path: '/money', group: 'main', icon: Landmark, load: () => import('./pages/money.tsx') },
  { name: 'keys', path: '/developers/keys', group: 'developers', icon: KeyRound, load: () => import('./pages/keys.tsx') },
  { name: 'userTokens', path: '/developers/users', group: 'developers', icon: UserCheck, load: () => import('./pages/user-tokens.tsx') },
  { name: 'webhooks', path: '/developers/webhooks', group: 'developers', icon: Webhook, load: () => import('./pages/webhooks.tsx') },
  { name: 'webhook', path: '/developers/webhooks/$id', load: () => import('./pages/webhook.tsx') },
  { name: 'requests', path: '/developers/requests', group: 'developers', icon: ScrollText, load: () => import('./pages/requests.tsx') },
  { name: 'events', path: '/developers/events', group: 'developers', icon: Zap, load: () => import('./pages/events.tsx') },
  { name: 'settings', path: '/settings', group: 'settings', icon: Settings, load: () => import('./pages/settings.tsx') },
  { name: 'branding', path: '/settings/branding', group: 'settings', icon: Palette, load: () => import('./pages/branding.tsx') },
  { name: 'members', path: '/settings/members', group: 'settings', icon: Users, load: () => import('./pages/members.tsx') },
  { name: 'auditLog', path: '/settings/audit-log', group: 'settings', icon: FileClock, load: () => import('./pages/audit-log.tsx') },
  { name: 'sandbox', path: '/sandbox', group: 'sandbox', icon: FlaskConical, load: () => import('./pages/sandbox.tsx') },
  { name: 'operator', path: '/operator', group: 'operator', icon: Server, load: () => import('./pages/operator.tsx') },
  { name: 'operatorOrganizations', path: '/operator/organizations', group: 'operator', icon: Building2, load: () => import('./pages/operator-organizations.tsx') },
  { name: 'operatorOrganizations', path: '/operator/organizations/$id', load: () => import('./pages/operator-organization.tsx') },
  { name: 'operatorAccounts', path: '/operator/accounts', group: 'operator', icon: WalletCards, load: () => import('./pages/operator-accounts.tsx') },
  { name: 'operatorStuck', path: '/operator/stuck', group: 'operator', icon: TriangleAlert, load: () => import('./pages/operator-stuck.tsx') },
  { name: 'operatorJobs', path: '/operator/jobs', group: 'operator', icon: ListChecks, load: () => import('./pages/operator-jobs.tsx') },
  { name: 'account', path: '/account', icon: UserRound, isFound: true, load: () => import('./pages/account.tsx') },
];

/** Pages without a session and without the layout. */
export const outsidePages: readonly DashboardPage[] = [
  { name: 'signIn', path: '/sign-in', load: () => import('./pages/sign-in.tsx') },
  { name: 'signIn', path: '/sign-in/$token', load: () => import('./pages/sign-in-token.tsx') },
  { name: 'invitation', path: '/invitation/$token', load: () => import('./pages/invitation.tsx') },
  { name: 'evidence', path: '/evidence/$token', load: () => import('./pages/evidence.tsx') },
];

export const groupOrder: readonly Group[] = ['main', 'developers', 'settings', 'sandbox', 'operator'];

/** Which groups a member sees. */
export function visiblePages(environment: string, isOperator: boolean): DashboardPage[] {
  return pages.filter(
    ({ group }) => (group !== 'sandbox' || environment === 'development') && (group !== 'operator' || isOperator),
  );
}

export const fallbackIcon: LucideIcon = ReceiptText;
