import type { components, operations } from './openapi.ts';

type Schemas = components['schemas'];
type Body<Operation extends keyof operations> = operations[Operation]['responses'] extends {
  200: { content: { 'application/json': infer Json } };
}
  ? Json
  : never;

export type Message = Schemas['Message'];
export type Consumer = Schemas['Consumer'];
/** Records that were gone before they were read. */
export type Gap = Schemas['LogGap'];
/** A page of a log. */
export type LogPage = Body<'getLog'>;
export type LogRecord = LogPage['records'][number];
export type Lease = Body<'leaseConsumer'>;
/** The response to a publish; `scheduled_for` is set if the message is published later. */
export type Published = Body<'publishJson'>;
/** The fields of a publish. */
export type PublishFields = NonNullable<operations['publishJson']['requestBody']>['content']['application/json'];
