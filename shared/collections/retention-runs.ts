import type { RetentionRun, RetentionState } from '../domain/retention/retention-run.ts';
import { UniqueKeyViolation, type Collection, type Documents } from '../ports/documents.ts';

export const retentionRuns: Collection<RetentionRun> = {
  name: 'retentionRuns',
  fields: {
    startedBy: 'text',
    startedAt: 'time',
    endedAt: 'time',
    upTo: 'time',
    planned: 'json',
    messages: 'integer',
    bytes: 'integer',
    tiers: 'json',
    topics: 'json',
    consumersBehind: 'json',
    archived: 'json',
    outcome: 'text',
    interruptions: 'integer',
    leasedUntil: 'time',
  },
  uniqueKeys: {},
  indexes: { byTime: ['startedAt'] },
};

export const retentionStates: Collection<RetentionState> = {
  name: 'retentionStates',
  fields: {
    pausedAt: 'time',
    reason: 'text',
    runId: 'text',
    waiting: 'json',
    confirmedUpTo: 'time',
    protectedUntil: 'time',
  },
  uniqueKeys: {},
  indexes: {},
};

/** The ID of the only document. */
const stateId = 'messages';

/** Returns the state of the removal of expired messages; creates it if missing. */
export async function readRetentionState(documents: Documents): Promise<RetentionState> {
  const stored = await documents.get(retentionStates, stateId);
  if (stored !== null) return stored;
  try {
    return await documents.insert(retentionStates, {
      id: stateId,
      pausedAt: null,
      reason: null,
      runId: null,
      waiting: null,
      confirmedUpTo: null,
      protectedUntil: null,
    });
  } catch (error) {
    if (!(error instanceof UniqueKeyViolation)) throw error;
    return (await documents.get(retentionStates, stateId))!;
  }
}

/** Whether the unread records of consumers are protected: by the setting `isSet`, or since an operator's run. */
export async function protectsConsumers(
  documents: Pick<Documents, 'get'>,
  { isSet, now }: { readonly isSet: boolean; readonly now: number },
): Promise<boolean> {
  return isSet || ((await documents.get(retentionStates, stateId))?.protectedUntil ?? 0) > now;
}

/** Returns the reports of runs, newest first. */
export function listRuns(documents: Documents, limit: number): Promise<RetentionRun[]> {
  return documents.find(retentionRuns, { index: 'byTime', equals: {}, descending: true, limit });
}
