import { expect } from '@jest/globals';
import type { Person } from './use-stack.ts';

/** The actor and origin that the audit log shows for an account. */
export const by = ({ id, user, client }: Person, through = 'login') => ({
  actor: { type: 'account', id, name: user.username, through, credential_id: expect.any(String) },
  origin: { address: client.address, user_agent: 'node' },
});

export const byOperator = {
  actor: { type: 'operator', id: null, name: null, through: 'admin_token', credential_id: null },
  origin: { address: expect.stringMatching(/^fd/), user_agent: 'node' },
};
export const byCommand = {
  actor: { type: 'operator', id: null, name: null, through: 'cli', credential_id: null },
  origin: { address: null, user_agent: expect.stringMatching(/^tocsin, run by ./) },
};
export const bySystem = {
  actor: { type: 'system', id: null, name: null, through: 'server', credential_id: null },
  origin: { address: null, user_agent: null },
};
export const byNobody = (address: string, through = 'nothing') => ({
  actor: { type: 'anonymous', id: null, name: null, through, credential_id: null },
  origin: { address, user_agent: 'node' },
});
