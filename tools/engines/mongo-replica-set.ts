import { MongoClient, type MongoClientOptions } from 'mongodb';

export const replicaSet = 'rs0';

/**
 * What `mongod` is told wherever it runs for us. Harm prevented: a transaction that a killed or cut off process left open
 * keeps others from what it wrote; by default for a minute.
 */
export const mongoParameters = ['--setParameter', 'transactionLifetimeLimitSeconds=10'];

/** The connection string of the one-member set that is reached at `host:port`, whatever name its member goes by. */
export const mongoUrl = (address: string): string =>
  `mongodb://${address}/?directConnection=true&replicaSet=${replicaSet}`;

/**
 * Whether the set of one has its primary. The first time it is asked to form, with a member that is called
 * `memberAddress`, which only the server itself dials. `tls` where it speaks that. Throws while the server cannot be reached.
 */
export const isPrimary = async (
  address: string,
  memberAddress = address,
  tls: Pick<MongoClientOptions, 'tls' | 'tlsCAFile'> = {},
): Promise<boolean> => {
  const client = new MongoClient(`mongodb://${address}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
    ...tls,
  });
  try {
    const admin = client.db('admin');
    const hello = await admin.command({ hello: 1 });
    if (hello.isreplicaset === true) {
      await admin.command({ replSetInitiate: { _id: replicaSet, members: [{ _id: 0, host: memberAddress }] } });
    }
    return hello.isWritablePrimary === true;
  } finally {
    await client.close();
  }
};
