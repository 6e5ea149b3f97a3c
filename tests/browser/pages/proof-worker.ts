import '@svc/sdk/private-balance/worker';
