/** The record is certainly not in the log, so that it can be sent again. */
export class NotAppended extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'NotAppended';
  }
}
