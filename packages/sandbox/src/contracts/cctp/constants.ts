/** Where the bridge's contracts stand on mainnet, and here. */
export const TOKEN_MESSENGER_ADDRESS = 0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2an;
export const MESSAGE_TRANSMITTER_ADDRESS = 0x02ebb5777b6dd8b26ea11d68fdf1d2c85cd2099335328be845a28c77a8aef183n;

export const STARKNET_DOMAIN = 25n;
export const SOLANA_DOMAIN = 5n;
