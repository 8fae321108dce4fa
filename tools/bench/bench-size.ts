/** Sizes of the measurements. */
export interface BenchSize {
  readonly publish: {
    readonly connections: readonly number[];
    readonly rounds: number;
    /** A measurement ends after this many requests or after `secondsMax`. */
    readonly requests: number;
    readonly secondsMax: number;
    readonly topics: number;
    readonly textBytes: number;
  };
  readonly fanOut: {
    readonly streams: number;
    readonly messagesPerSecond: number;
    readonly seconds: number;
    readonly textBytes: number;
  };
  readonly reading: {
    /** Messages per store, the smallest store first. */
    readonly messages: readonly number[];
    readonly topics: number;
    readonly readers: number;
    /** Per kind of read. */
    readonly secondsMax: number;
  };
  readonly retention: {
    /** A third of the messages has expired. */
    readonly messages: number;
    readonly publishesPerSecond: number;
    /** Duration of one span of publishes, with or without the removal. */
    readonly secondsMax: number;
  };
  readonly replay: {
    readonly messages: number;
    readonly readers: readonly number[];
    readonly passes: number;
    readonly textBytes: number;
  };
  readonly idle: {
    /** Starts on existing data, after the first. */
    readonly starts: number;
    /** Streams whose memory is measured, after others that are opened first. */
    readonly streams: number;
    readonly warmUpStreams: number;
    /** Duration of the measurement of CPU time. */
    readonly seconds: number;
  };
  readonly scaling: {
    /** The largest number of processes of a service. */
    readonly processesMax: number;
    /** Per process. */
    readonly connections: number;
    readonly requests: number;
    readonly secondsMax: number;
    readonly textBytes: number;
  };
}

/** Produces the figures in the documentation; takes a few minutes. */
export const fullSize: BenchSize = {
  publish: { connections: [1, 16, 64, 1_024], rounds: 3, requests: 20_000, secondsMax: 8, topics: 10, textBytes: 200 },
  fanOut: { streams: 1_000, messagesPerSecond: 50, seconds: 10, textBytes: 200 },
  reading: { messages: [10_000, 1_000_000], topics: 1_000, readers: 16, secondsMax: 2 },
  retention: { messages: 3_000_000, publishesPerSecond: 300, secondsMax: 10 },
  replay: { messages: 100_000, readers: [1, 4], passes: 3, textBytes: 200 },
  idle: { starts: 5, streams: 8_000, warmUpStreams: 4_000, seconds: 20 },
  scaling: { processesMax: 4, connections: 64, requests: 20_000, secondsMax: 10, textBytes: 200 },
};

/** Shows that every part runs. Too small for the marks. */
export const quickSize: BenchSize = {
  publish: { connections: [1, 64], rounds: 1, requests: 20_000, secondsMax: 0.8, topics: 10, textBytes: 200 },
  fanOut: { streams: 200, messagesPerSecond: 50, seconds: 1, textBytes: 200 },
  reading: { messages: [1_000, 10_000], topics: 20, readers: 4, secondsMax: 0.3 },
  retention: { messages: 40_000, publishesPerSecond: 100, secondsMax: 1 },
  replay: { messages: 10_000, readers: [1, 4], passes: 1, textBytes: 200 },
  idle: { starts: 1, streams: 500, warmUpStreams: 100, seconds: 2 },
  scaling: { processesMax: 2, connections: 64, requests: 2_000, secondsMax: 2, textBytes: 200 },
};
