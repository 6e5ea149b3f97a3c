import type { ClaimErrorCode } from '../claim/errors.ts';

export interface ErrorText {
  readonly title: string;
  readonly body: string;
  readonly action: string;
}

export interface Texts {
  /** The language's own name, shown to readers of another. */
  readonly language: string;
  readonly locale: string;
  readonly pageTitle: string;
  readonly back: string;
  readonly continue: string;
  readonly looking: string;
  readonly enterCode: { title: string; body: string; label: string; button: string; invalid: string };
  readonly gift: {
    title: string;
    from: (orgName: string) => string;
    pesos: (amount: string) => string;
    until: (day: string) => string;
    /** On gifts that give nothing now: whose they are, and when they count. */
    name: (from: string) => string;
    begins: (from: string, day: string) => string;
    ended: (from: string, day: string) => string;
    worth: string;
    button: string;
    note: string;
    noteNoApp: string;
  };
  readonly chain: {
    title: string;
    body: string;
    /** Where recipients without a wallet have a way on. */
    titleOffered: string;
    bodyOffered: string;
    none: string;
    noneBody: string;
    appBody: (host: string) => string;
    own: string;
    ownBody: (address: string) => string;
    starknet: string;
    solana: string;
    whatTitle: string;
    what: readonly string[];
    appsTitle: string;
  };
  readonly address: {
    title: (chain: string) => string;
    label: (chain: string) => string;
    hint: Readonly<Record<'starknet' | 'solana', string>>;
    paste: string;
    scan: string;
    helpTitle: string;
    help: readonly string[];
    empty: string;
    incomplete: string;
    wrong: (chain: string) => string;
    ethereum: (chain: string) => string;
    otherChain: (chain: string) => string;
    switchTo: (chain: string) => string;
    right: string;
    pasteFailed: string;
  };
  readonly scan: {
    title: string;
    aim: string;
    starting: string;
    noCamera: string;
    picture: string;
    noCode: string;
    stop: string;
    loadFailed: string;
  };
  readonly confirm: {
    title: string;
    amount: string;
    network: string;
    address: string;
    warning: string;
    button: string;
    change: string;
  };
  readonly sending: {
    title: string;
    starknet: string;
    solana: string;
    slow: string;
    keep: string;
    steps: Readonly<Record<'leaving' | 'crossing' | 'arriving', string>>;
    stepDone: string;
    stepNow: string;
    stepNext: string;
  };
  readonly done: {
    title: string;
    body: (amount: string, chain: string) => string;
    wallet: string;
    proof: string;
    open: string;
    newTab: string;
    copy: string;
    copied: string;
    again: string;
  };
  readonly newWallet: {
    title: string;
    body: string;
    button: string;
    busy: string;
    note: string;
    usePassphrase: string;
    cancelled: string;
    noPasskey: string;
    weak: string;
    passphraseBody: string;
    passphrase: string;
    short: string;
    passphraseButton: string;
    codeBody: string;
    codeLabel: string;
    copyCode: string;
    written: string;
    codeButton: string;
  };
  readonly making: { title: string; body: string };
  readonly walletDone: { title: string; body: (amount: string) => string; open: string; note: string };
  readonly errors: Readonly<Record<ClaimErrorCode, ErrorText>>;
  readonly reference: string;
}
