import { expect } from '@jest/globals';
import { testStack } from './stack.ts';
import type { Caller, StackUse } from './use-stack.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
export type Entry = any;

/** The operator of the stack and functions to read the audit log. */
export function useAuditLog(stack: StackUse): {
  adminToken: string;
  operator: Caller;
  logOf(filters: Record<string, string>): Promise<Entry[]>;
} {
  const adminToken = testStack().env['ADMIN_TOKEN']!;
  const operator = stack.caller({ Authorization: `Bearer ${adminToken}` });
  return {
    adminToken,
    operator,
    /** The entries that match the filters, newest first. */
    async logOf(filters) {
      const { status, body } = await operator.get(`/admin/audit?${new URLSearchParams(filters).toString()}`);
      expect(status).toBe(200);
      return body.entries;
    },
  };
}
