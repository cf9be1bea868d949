import type { CommonOptions } from './common-options.ts'
import type { EsOptions, esEntries } from './es/config.ts'
import type { FileOptions, fileEntries } from './file/config.ts'
import type { FilesOptions, filesEntries } from './files/config.ts'
import type { FluentBitOptions, fluentBitEntries } from './fluent-bit/config.ts'
import type { InfluxOptions, influxEntries } from './influx/config.ts'
import type { JsonlOptions, jsonlEntries } from './jsonl/config.ts'
import type { NetflowOptions, netflowEntries } from './netflow/config.ts'
import type { OtlpOptions, otlpEntries } from './otlp/config.ts'
import type { RemoteWriteOptions, remoteWriteEntries } from './remote-write/config.ts'
import type { StdoutOptions, stdoutEntries } from './stdout/config.ts'

type OneOrMany<T> = T | readonly T[]

/** Files of records, with the options of {@link FilesOptions}. */
export type FilesDestination = CommonOptions & Pick<FilesOptions, keyof typeof filesEntries>

/** Records as events of Fluent Forward, with the options of {@link FluentBitOptions}. */
export type FluentBitDestination = CommonOptions & Pick<FluentBitOptions, keyof typeof fluentBitEntries>

/** Records as JSON lines over HTTP, with the options of {@link JsonlOptions}. */
export type JsonlDestination = CommonOptions & Pick<JsonlOptions, keyof typeof jsonlEntries>

/** Records as points in InfluxDB, with the options of {@link InfluxOptions}. */
export type InfluxDestination = CommonOptions & Pick<InfluxOptions, keyof typeof influxEntries>

/** Records as documents in Elasticsearch or OpenSearch, with the options of {@link EsOptions}. */
export type EsDestination = CommonOptions & Pick<EsOptions, keyof typeof esEntries>

/** Metrics and logs to an OpenTelemetry receiver, with the options of {@link OtlpOptions}. */
export type OtlpDestination = CommonOptions & Pick<OtlpOptions, Extract<keyof typeof otlpEntries, keyof OtlpOptions>>
/** Metrics as Prometheus remote write, with the options of {@link RemoteWriteOptions}. */
export type RemoteWriteDestination = CommonOptions & Pick<RemoteWriteOptions, keyof typeof remoteWriteEntries>
/** Records of flows as NetFlow v9 or IPFIX, with the options of {@link NetflowOptions}. */
export type NetflowDestination = CommonOptions & Pick<NetflowOptions, keyof typeof netflowEntries>

/** Records as lines of text in a file, with the options of {@link FileOptions}. */
export type FileDestination = CommonOptions & Pick<FileOptions, Extract<keyof typeof fileEntries, keyof FileOptions>>

/** Records as lines of text on standard output, with the options of {@link StdoutOptions}. */
export type StdoutDestination = CommonOptions &
  Pick<StdoutOptions, Extract<keyof typeof stdoutEntries, keyof StdoutOptions>>

/** Destinations by kind, each an object or a list; the same as below `export` in the file of an agent. */
export interface ExportOptions {
  /** Files of records. */
  readonly files?: OneOrMany<FilesDestination>
  /** Records as events of Fluent Forward, for Fluent Bit and Fluentd. */
  readonly fluentBit?: OneOrMany<FluentBitDestination>
  /** Records as JSON lines, posted over HTTP. */
  readonly jsonl?: OneOrMany<JsonlDestination>
  /** Records as points in InfluxDB 1, 2 or 3. */
  readonly influx?: OneOrMany<InfluxDestination>
  /** Records as documents in Elasticsearch or OpenSearch. */
  readonly es?: OneOrMany<EsDestination>
  /** Metrics and logs to an OpenTelemetry receiver, over HTTP. */
  readonly otlp?: OneOrMany<OtlpDestination>
  /** Metrics as Prometheus remote write. */
  readonly remoteWrite?: OneOrMany<RemoteWriteDestination>
  /** Records of flows as NetFlow v9 or IPFIX. */
  readonly netflow?: OneOrMany<NetflowDestination>
  /** Records as lines of text, appended to a file. */
  readonly file?: OneOrMany<FileDestination>
  /** Records as lines of text, on standard output. */
  readonly stdout?: OneOrMany<StdoutDestination>
}
