import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enginesDir } from './engines-dir.ts';
import { EngineProcess } from './engine-process.ts';
import { freePorts } from './free-ports.ts';
import { kafkaProperties } from './kafka-properties.ts';
import { runProgram } from './run-program.ts';
import { withInstallLock } from './with-install-lock.ts';

/** Not 4.4.0, because kafka-tools and kafka-tools-api 4.4.0 are missing on Maven Central. */
export const kafkaVersion = '4.3.1';
const log4jVersion = '2.25.4';

/** Java arguments up to and including the main class. */
export type KafkaInstallation = { dir: string; javaArgs: string[]; archiveFile: string };

/**
 * Installs Kafka's jars from Maven Central and a class-data archive that shortens every start by 3 s. Safe to call from
 * several processes concurrently; returns immediately if installed.
 */
export const installKafka = async (report: (line: string) => void): Promise<KafkaInstallation> => {
  const root = enginesDir();
  const dir = join(root, `kafka-${kafkaVersion}`);
  const archiveFile = join(dir, 'kafka.jsa');
  if (!existsSync(archiveFile)) {
    await withInstallLock(root, 'kafka', async () => {
      if (!existsSync(dir)) {
        report(`installing Kafka ${kafkaVersion} (about 20 s) …`);
        await fetchJars(dir);
      }
      if (!existsSync(archiveFile)) await archiveClasses({ dir, javaArgs: javaArgs(dir), archiveFile });
    });
  }
  return { dir, javaArgs: [...javaArgs(dir), `-XX:SharedArchiveFile=${archiveFile}`], archiveFile };
};

// The class path contains only jars, because a class-data archive supports no directories. A property sets the log
// configuration.
const javaArgs = (dir: string) => [
  '-Djava.awt.headless=true',
  '-XX:+UseSerialGC',
  `-Dlog4j2.configurationFile=${join(dir, 'log4j2.properties')}`,
  '-cp',
  readdirSync(join(dir, 'libs'))
    .sort()
    .map((jar) => join(dir, 'libs', jar))
    .join(':'),
];

const fetchJars = async (dir: string) => {
  const unfinished = `${dir}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished);
  writeFileSync(join(unfinished, 'pom.xml'), pom);
  writeFileSync(join(unfinished, 'log4j2.properties'), log4jProperties);
  const goal = [
    'dependency:copy-dependencies',
    `-DoutputDirectory=${join(unfinished, 'libs')}`,
    '-DincludeScope=runtime',
  ];
  await runProgram('mvn', ['-B', '-U', ...goal], { cwd: unfinished });
  renameSync(unfinished, dir);
};

const artifact = (group: string, name: string, version: string, more = '') =>
  `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version>${more}</dependency>`;

// kafka-tools (kafka-console-consumer and others) without the 47 jars of Kafka Connect; an slf4j binding, because the
// broker includes none and would log nothing, not even that it started.
const pom = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka-engine</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    ${artifact('org.apache.kafka', 'kafka_2.13', kafkaVersion)}
    ${artifact('org.apache.kafka', 'kafka-tools', kafkaVersion, '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>')}
    ${artifact('org.apache.logging.log4j', 'log4j-slf4j-impl', log4jVersion)}
    ${artifact('org.apache.logging.log4j', 'log4j-core', log4jVersion)}
  </dependencies>
</project>
`;

const log4jProperties = `rootLogger.level=INFO
rootLogger.appenderRef.c.ref=C
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d{HH:mm:ss.SSS} %p %c{1} - %m%n
`;

/** Runs a broker once; on its clean exit Java writes the archive of loaded classes. */
const archiveClasses = async (installation: KafkaInstallation) => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-kafka-archive-'));
  const [broker, controller] = (await freePorts(2)) as [number, number];
  const unfinished = `${installation.archiveFile}.unfinished`;
  const propertiesFile = join(dir, 'server.properties');
  writeFileSync(
    propertiesFile,
    kafkaProperties({ nodeId: 1, brokerPort: broker, controllerPorts: [controller], dataDir: join(dir, 'data') }),
  );
  try {
    await formatStorage(installation, propertiesFile);
    const run = new EngineProcess(
      {
        name: 'kafka-archive',
        url: `127.0.0.1:${broker}`,
        file: 'java',
        args: [
          '-Xmx256m',
          ...installation.javaArgs,
          `-XX:ArchiveClassesAtExit=${unfinished}`,
          'kafka.Kafka',
          propertiesFile,
        ],
        readyLine: 'Kafka Server started',
        answers: () => Promise.resolve(true),
      },
      { dir, removeDir: undefined, outlives: false },
    );
    await run.start();
    await run.stop();
    renameSync(unfinished, installation.archiveFile);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const formatStorage = ({ javaArgs }: KafkaInstallation, propertiesFile: string) =>
  runProgram('java', [
    '-Xmx128m',
    ...javaArgs,
    'kafka.tools.StorageTool',
    'format',
    '--ignore-formatted',
    '-t',
    templateClusterId,
    '-c',
    propertiesFile,
  ]);

/** Cluster ID in the cached formatted directory. Each new cluster replaces it with its own ID. */
export const templateClusterId = 'AAAAAAAAAAAAAAAAAAAAAA';

/**
 * Returns a formatted storage directory for the node, to be copied. Formatting starts Java, so it runs once per node
 * ID. The directory contains no port and no address.
 */
export const formattedStorage = async (installation: KafkaInstallation, nodeId: number): Promise<string> => {
  const formatted = join(installation.dir, `formatted-${nodeId}`);
  if (existsSync(formatted)) return formatted;
  return withInstallLock(enginesDir(), `kafka-format-${nodeId}`, async () => {
    if (existsSync(formatted)) return formatted;
    const unfinished = `${formatted}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished);
    const propertiesFile = join(unfinished, 'server.properties');
    // The ports are validated but not used. The node must be a voter.
    const controllerPorts = Array.from({ length: nodeId }, (_, i) => 19_000 + i);
    writeFileSync(
      propertiesFile,
      kafkaProperties({ nodeId, brokerPort: 18_999, controllerPorts, dataDir: unfinished }),
    );
    await formatStorage(installation, propertiesFile);
    rmSync(propertiesFile);
    renameSync(unfinished, formatted);
    return formatted;
  });
};
