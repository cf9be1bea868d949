// `@sonde/sdk`: for applications, and for authors of sinks. docs/sdk.md explains each name.

import './engines.ts'

export { httpResult } from './delivery/connection/http-result.ts'
export type { DeadLetter } from './delivery/dead-letters.ts'
export { type DeliveryOptions, type DeliverySink, delivery } from './delivery/delivery.ts'
export type { LossRecord } from './delivery/ledger.ts'
export type { DeliveryQueue, QueueEntry, TakenEntries } from './delivery/queue.ts'
export type { SendResult } from './delivery/sender.ts'
export { SondeError } from './errors.ts'
export type { Batch, SourceInfo } from './schema/batch.ts'
export { logType, lossType } from './schema/builtin.ts'
export { element } from './schema/element.ts'
export {
  array,
  buckets,
  chars,
  counter,
  type Field,
  type FieldClass,
  gauge,
  label,
  labelNumber,
  type NestedField,
  nested,
  optional,
  text,
  timestamp,
  value,
} from './schema/field.ts'
export { isPresent, numberAt, type ReadRecord, readRecord, readRecords } from './schema/reader.ts'
export { defineType, type RecordOf, type RecordType } from './schema/record-type.ts'
export type { Labels } from './schema/series.ts'
export type { BatchSymbols } from './schema/texts.ts'
export { type Views, viewsOf } from './schema/views.ts'
export { FlushError } from './sink/flush-error.ts'
export { countDrop, type Sink, type SinkStats, sinkStats } from './sink/sink.ts'
export type { ExportOptions } from './sinks/export-options.ts'
export type { FilesOptions } from './sinks/files/config.ts'
export { createFiles, type FilesSink } from './sinks/files/files.ts'
export { type DtbFile, openDtb } from './sinks/files/open-dtb.ts'
export type { IpcOptions } from './sinks/ipc/config.ts'
export { createIpc, type IpcSink, type IpcStatus } from './sinks/ipc/ipc.ts'
export type { PrometheusOptions } from './sinks/prometheus/config.ts'
export { metricsHandler } from './sinks/prometheus/handler.ts'
export { openPrometheus, type PrometheusSink } from './sinks/prometheus/listener.ts'
export { createPrometheus, type Prometheus } from './sinks/prometheus/prometheus.ts'
export { type AbsenceCode, Absences } from './source/absence.ts'
export { timestampUs, wallNs } from './source/clock.ts'
export type { CounterHandle, GaugeHandle } from './source/handles.ts'
export type { HistogramHandle } from './source/histogram.ts'
export type { SourceOptions } from './source/options.ts'
export type { Reporter } from './source/reporter.ts'
export { createSource, Source } from './source/source.ts'
export type { Row } from './source/table.ts'
export { uptimeMs } from './source/uptime.ts'
export type { SchemaOptions } from './telemetry/config.ts'
export { type LogLevel, type LogRecord, reportLog } from './telemetry/log.ts'
export type { AddHandle, TotalHandle } from './telemetry/metrics/handles.ts'
export type { Metric } from './telemetry/metrics/metric.ts'
export { createMetrics, type Metrics } from './telemetry/metrics/metrics.ts'
export type { MetricsOptions } from './telemetry/metrics/options.ts'
export {
  maxOpaqueBytes,
  type OpaqueEvent,
  opaqueTypes,
  type ReadOpaqueEvent,
  readOpaque,
  reportOpaque,
} from './telemetry/opaque.ts'
export { createSchema, type Schema, type SchemaStatus } from './telemetry/schema.ts'
export { DtbDecoder, type DtbStep } from './wire/dtb/decode.ts'
