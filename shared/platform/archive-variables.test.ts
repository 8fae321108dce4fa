import { expect, test } from '@jest/globals';
import { loadConfig } from './load-config.ts';

const archiveOf = (variables: Record<string, string>) => loadConfig(variables, '/nonexistent/.env').archive;

test('ARCHIVE_URL is a directory or a bucket with an optional prefix', () => {
  expect(archiveOf({})).toBeUndefined();
  expect(archiveOf({ ARCHIVE_URL: 'file:///srv/my%20archive' })).toEqual({ kind: 'files', dir: '/srv/my archive' });
  const bucket = { kind: 's3', bucket: 'tocsin', prefix: '', endpoint: undefined, region: undefined };
  expect(archiveOf({ ARCHIVE_URL: 's3://tocsin' })).toEqual(bucket);
  expect(archiveOf({ ARCHIVE_URL: 's3://tocsin/a/b/' })).toEqual({ ...bucket, prefix: 'a/b' });
});

test('another S3 server needs no region', () => {
  const variables = { ARCHIVE_URL: 's3://tocsin', ARCHIVE_S3_ENDPOINT: 'http://127.0.0.1:9000' };
  expect(archiveOf(variables)).toMatchObject({ endpoint: 'http://127.0.0.1:9000', region: 'us-east-1' });
  expect(archiveOf({ ...variables, ARCHIVE_S3_REGION: 'eu-1' })).toMatchObject({ region: 'eu-1' });
});

test.each([
  'archive',
  '/srv/archive',
  'file://srv/archive',
  'file:///',
  'file:///srv/a%2Fb',
  'https://s3.example.org/bucket',
  's3://',
  's3://Bucket_Name',
  's3://key:secret@bucket',
  's3://bucket/a b',
  's3://bucket?region=eu-1',
])('rejects ARCHIVE_URL=%s with both forms, without repeating it', (text) => {
  expect(() => archiveOf({ ARCHIVE_URL: text })).toThrow(
    /\n {2}ARCHIVE_URL: must be file:\/\/\/path, an absolute path, or s3:\/\/bucket\/prefix, without user or query$/,
  );
});

test('rejects settings of S3 without a bucket', () => {
  const fault = 'require ARCHIVE_URL=s3://bucket/prefix';
  expect(() => archiveOf({ ARCHIVE_S3_REGION: 'eu-1' })).toThrow(fault);
  expect(() => archiveOf({ ARCHIVE_S3_ENDPOINT: 'http://a', ARCHIVE_URL: 'file:///a' })).toThrow(fault);
});
