import { AppError } from '@tocsin/shared/domain/errors.ts';
import { UniqueKeyViolation } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';

/** Throws 409 if a write failed because the name is taken, otherwise the original error. */
export function refuseTakenName(error: unknown): never {
  if (error instanceof UniqueKeyViolation && error.collection === topics.name && error.key === 'name') {
    throw new AppError('conflict', 'Topic name already exists', { cause: error });
  }
  throw error;
}
