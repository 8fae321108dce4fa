import { MongoClient, type MongoClientOptions } from 'mongodb';

export const replicaSet = 'rs0';

/**
 * Arguments of every `mongod`. An open transaction of a killed or disconnected process blocks writes to its documents;
 * this limits the time, by default one minute.
 */
export const mongoParameters = ['--setParameter', 'transactionLifetimeLimitSeconds=10'];

/** Returns the connection string of the one-member set at `host:port`, independent of the member's name. */
export const mongoUrl = (address: string): string =>
  `mongodb://${address}/?directConnection=true&replicaSet=${replicaSet}`;

/**
 * Returns whether the one-member set has a primary. The first call initiates the set with a member named
 * `memberAddress`, which only the server itself connects to. `tls` for a server with TLS. Throws while the server is
 * unreachable.
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
