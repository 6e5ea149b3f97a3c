/** The sandbox has its own chain id, so its signatures are invalid on a live network. */
export const chainIds = {
  SN_MAIN: 0x534e5f4d41494en,
  SN_SEPOLIA: 0x534e5f5345504f4c4941n,
  SVC_SANDBOX: 0x5356435f53414e44424f58n,
} as const;

export const UDC_ADDRESS = 0x02ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125n;
export const LEGACY_UDC_ADDRESS = 0x041a78e741e5af2fec34b695679bc6891742439f7afb8484ecd7766661ad02bfn;

export const interfaceIds = {
  SRC5: 0x3f918d17e5ee77373b56385708f855659a07f75997f365cf87748628532a055n,
  SRC6: 0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cdn,
  OUTSIDE_EXECUTION_V1: 0x68cfd18b92d1907b8ba3cc324900277f5a3622099431ea85dd8089255e4181n,
  OUTSIDE_EXECUTION_V2: 0x1d1144bb2138366ff28d8e9ab57456b1d332ac42196230c3a602003c89872n,
} as const;

/** Answer of `__validate__` and `is_valid_signature` for a valid signature. */
export const VALID = 0x56414c4944n;
