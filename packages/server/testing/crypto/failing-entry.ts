throw new Error('Fails to start');
