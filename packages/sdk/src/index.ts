import './engines.ts'

export type { DeliveryLimits, QueuePolicy } from './delivery/config.ts'
export type { DeadLetter, OnReject } from './delivery/dead-letters.ts'
export { type DeliveryOptions, type DeliverySink, delivery } from './delivery/delivery.ts'
export { httpResult } from './delivery/http.ts'
export type { LossRecord, OnLoss } from './delivery/ledger.ts'
export type { DeliveryQueue, QueueEntry, TakenEntries } from './delivery/queue.ts'
export type { Send, SendResult } from './delivery/sender.ts'
export { messageOf, SondeError } from './errors.ts'
export { FieldSets, type FieldSetsOptions } from './fieldset/field-sets.ts'
export { bothSets, createFieldSet, type FieldSet, type Projection } from './fieldset/fieldset.ts'
export type { FieldSetKind } from './fieldset/parse.ts'
export type { Timers } from './internal/timers.ts'
export { allSteps, answerInSteps, answerRequest, type FindInSteps, type Found, tooManyValues } from './query/answer.ts'
export { AskerQueue } from './query/asker-queue.ts'
export { Candidates } from './query/candidates.ts'
export type { Catalogue, LatestSeries, ListedType } from './query/catalogue.ts'
export { type Column, ColumnReader, matcherOf, slotsOfMetric } from './query/column.ts'
export { answerToColumns, answerToJson, answerToJsonParts, COLUMNS_CONTENT_TYPE } from './query/columns-format.ts'
export { type Evaluated, evaluate, gainsOf, gridOf, numbersOf } from './query/evaluate.ts'
export {
  type Aggregate,
  type Asker,
  type Bin,
  CANDIDATE_COUNT_LIMIT,
  type History,
  type HistoryStatus,
  type Matcher,
  POINT_COUNT_LIMIT,
  type QueryAnswer,
  type QueryFunction,
  type QueryRequest,
  type QueryResult,
  SERIES_COUNT_LIMIT,
  type SeriesAnswer,
  type SeriesQuery,
  VALUE_COUNT_LIMIT,
  type Within,
} from './query/form.ts'
export { leadMs, TURN_LIMIT_MS } from './query/gaps.ts'
export { parseQueries, parseQueryRequest, stepOf } from './query/parse.ts'
export { SeriesRoom, tooManySeries } from './query/series-room.ts'
export type { Batch, Clock, Origin, PageId, SourceInfo } from './schema/batch.ts'
export {
  absenceType,
  clockType,
  eventType,
  gapType,
  lossType,
  markType,
  periodType,
  sinkHealthType,
  sourceHealthType,
  storeHealthType,
} from './schema/builtin.ts'
export { type Encode, encoderOf } from './schema/encoder.ts'
export {
  type EntityClaim,
  type EntityJoin,
  type EntityRef,
  type EntityRelation,
  entityOf,
  type JoinBy,
} from './schema/entity.ts'
export {
  array,
  buckets,
  chars,
  counter,
  type Field,
  type FieldOptions,
  gauge,
  type Integer64,
  label,
  labelNumber,
  type NestedField,
  type NumericKind,
  nested,
  optional,
  type Role,
  text,
  timestamp,
  value,
} from './schema/field.ts'
export { definitionOf, type FieldDefinition, type TypeDefinition } from './schema/fingerprint.ts'
export type { Kind } from './schema/kinds.ts'
export { elementsOf, type Layout, type LayoutNode, type NestedNode, type Slot } from './schema/layout.ts'
export { longestIn, Periods, periodIn, reportMsOf, type SourcePeriods } from './schema/periods.ts'
export { isPresent, msFactorOf, numberAt, type ReadRecord, readRecord, readRecords } from './schema/reader.ts'
export { defineType, type Fields, type RecordOf, type RecordType, type TypeOptions } from './schema/record-type.ts'
export { type Labels, labelOf, labelsOf, mergeLabels, seriesKey } from './schema/series.ts'
export { SeriesIndex } from './schema/series-index.ts'
export { type Symbols, SymbolTable } from './schema/symbols.ts'
export type { BatchSymbols, TextIds } from './schema/texts.ts'
export { allocateViews, type Views, viewsOf } from './schema/views.ts'
export { type FlushCounts, FlushError } from './sink/flush-error.ts'
export { countDrop, droppedTotal, type Sink, type SinkCounts, type SinkStats, sinkStats } from './sink/sink.ts'
export type { CommonOptions } from './sinks/common-options.ts'
export type { ExportOptions, FilesDestination, JsonlDestination } from './sinks/export-options.ts'
export { defaultDataRoot, type FilesDurability, type FilesOptions } from './sinks/files/config.ts'
export { createFiles, type FilesSink } from './sinks/files/files.ts'
export { type DtbFile, openDtb } from './sinks/files/open-dtb.ts'
export { readSidecar } from './sinks/files/read-sidecar.ts'
export type { IpcOptions } from './sinks/ipc/config.ts'
export { createIpc, type IpcSink, type IpcStatus } from './sinks/ipc/ipc.ts'
export type { PrometheusOptions } from './sinks/prometheus/config.ts'
export type { Exposition } from './sinks/prometheus/exposition.ts'
export type { MetricConflict } from './sinks/prometheus/families.ts'
export { metricsHandler } from './sinks/prometheus/handler.ts'
export { openPrometheus, type PrometheusListenerOptions, type PrometheusSink } from './sinks/prometheus/listener.ts'
export { createPrometheus, type Prometheus, type Scrape, type ScrapeHeaders } from './sinks/prometheus/prometheus.ts'
export { type AbsenceCode, Absences } from './source/absence.ts'
export { timestampUs, wallNs } from './source/clock.ts'
export type { SourceLosses } from './source/hand-over.ts'
export type { CounterHandle, GaugeHandle } from './source/handles.ts'
export type { HistogramHandle } from './source/histogram.ts'
export type { SourceOptions } from './source/options.ts'
export type { Reporter } from './source/reporter.ts'
export { createSource, Source } from './source/source.ts'
export type { Row, Table } from './source/table.ts'
export type { SchemaConfig, SchemaOptions, SchemaSourceOptions } from './telemetry/config.ts'
export type { AddHandle, TotalHandle } from './telemetry/metrics/handles.ts'
export type { LabelArguments, Metric } from './telemetry/metrics/metric.ts'
export { createMetrics, type Metrics, type MetricsStats } from './telemetry/metrics/metrics.ts'
export type {
  CounterOptions,
  GaugeOptions,
  HistogramOptions,
  MetricOptions,
  MetricsOptions,
} from './telemetry/metrics/options.ts'
export {
  maxOpaqueBytes,
  type OpaqueEvent,
  opaqueTypes,
  type ReadOpaqueEvent,
  readOpaque,
  reportOpaque,
} from './telemetry/opaque.ts'
export { createSchema, type Schema, type SchemaSinkStatus, type SchemaStatus } from './telemetry/schema.ts'
export {
  DtbDecoder,
  type DtbDecoderOptions,
  type DtbEnd,
  type DtbInput,
  type DtbStep,
} from './wire/dtb/decode.ts'
export type { DtbBlockHeader, DtbFileHeader } from './wire/dtb/decode-header.ts'
export type { SourceEntry } from './wire/dtb/format.ts'
export { acceptsGzip } from './wire/prometheus/negotiate.ts'
