import { toHex } from '@svc/starknet';
import type { Handlers } from '../http/call.ts';
import type { Module } from '../http/module.ts';
import type { Networks } from './networks.ts';

export function create(deps: { readonly networks: Networks }): Module<'getConfig'> {
  return { handlers: configHandlers(deps.networks) };
}

export function configHandlers(networks: Networks): Pick<Handlers, 'getConfig'> {
  return {
    getConfig: ({ caller }) => {
      const network = networks.starknet(caller.environment);
      return {
        network: network.name,
        chainId: toHex(network.chain.chainId),
        rpcUrl: network.rpcUrl,
        paymentAddress: network.paymentAddress,
        tokens: networks.tokens(caller.environment),
        walletClasses: network.walletClasses.map(({ walletType, classHash, current }) => {
          return { walletType, classHash: toHex(classHash), current };
        }),
      };
    },
  };
}
