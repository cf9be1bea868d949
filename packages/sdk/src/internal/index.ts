// `@sonde/sdk/internal`: for the other packages of Sonde. It changes without notice.

import '../engines.ts'

export { type AnnotationsWanted, annotationsWanted, matchingAnnotations } from '../api/annotations.ts'
export {
  type ChartLimits,
  type ChartParameters,
  type ChartRequest,
  chartRequest,
  chartTime,
  checkedName,
  LONGEST_PERIOD_MS,
} from '../api/chart-request.ts'
export type { DeliveryLimits } from '../delivery/config.ts'
export { readSecret } from '../delivery/connection/secret-source.ts'
export { checkQueue, type QueueCheck, repairQueue } from '../delivery/disk-queue/check-queue.ts'
export { messageOf } from '../errors.ts'
export { type FoundExp, readExpFolder } from '../exp-files/read-folder.ts'
export { askedSet } from '../fieldset/asked-set.ts'
export { batchProjection } from '../fieldset/batch-projection.ts'
export { FieldSets } from '../fieldset/field-sets.ts'
export { bothSets, CORE_SET, createFieldSet, type FieldSet } from '../fieldset/fieldset.ts'
export { FollowedSets } from '../fieldset/followed-sets.ts'
export { reportFieldSets } from '../fieldset/health.ts'
export { inlineSet } from '../fieldset/inline-set.ts'
export { FIELD_SET_BYTES_LIMIT, type FieldSetKind } from '../fieldset/parse.ts'
export { AnnouncedSource } from '../link/announced-source.ts'
export type { LinkSource, SymbolsItem } from '../link/item.ts'
export { SYMBOLS_OF_SOURCE } from '../link/item.ts'
export { PrefixTexts } from '../link/prefix-texts.ts'
export { LinkReader } from '../link/reader.ts'
export { symbolOffsets } from '../link/symbol-offsets.ts'
export { aggregateSeries, levelsOf } from '../query/aggregate.ts'
export { allSteps, answerInSteps, answerRequest, type MetricColumns, tooManyValues, unitOf } from '../query/answer.ts'
export { askedBy, askerOf } from '../query/asker.ts'
export { AskerQueue } from '../query/asker-queue.ts'
export { Candidates } from '../query/candidates.ts'
export { type Catalogue, type LatestSeries, type ListedType, UNTOLD_ABSENCE } from '../query/catalogue.ts'
export { type Column, ColumnReader, matcherOf, passesField, slotsOfMetric } from '../query/column.ts'
export { answerToColumns, answerToJson, answerToJsonParts, COLUMNS_CONTENT_TYPE } from '../query/columns-format.ts'
export { evaluate, gainsOf, gridOf, numbersOf } from '../query/evaluate.ts'
export { refillExpressions } from '../query/expression.ts'
export {
  type Asker,
  type Bin,
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
} from '../query/form.ts'
export { leadMs, TURN_LIMIT_MS } from '../query/gaps.ts'
export { parseQueries, parseQueryRequest, queryReader, stepOf } from '../query/parse.ts'
export { SeriesBudget, tooManySeries } from '../query/series-budget.ts'
export { type Clock, lifeOf, ownerOf, type PageId } from '../schema/batch.ts'
export {
  absenceType,
  clockType,
  eventType,
  gapType,
  logType,
  markType,
  periodType,
  sinkHealthType,
  sourceHealthType,
  storeHealthType,
} from '../schema/builtin.ts'
export { constantLabelText, fieldLabelsOf } from '../schema/constant-labels.ts'
export { describeType, type TypeDescription } from '../schema/describe-type.ts'
export { encoderOf } from '../schema/encoder.ts'
export { deviceLabelOf, type EntityRef, entityOf, type JoinBy } from '../schema/entity.ts'
export type { FieldOptions, Integer64 } from '../schema/field.ts'
export { definitionOf, type TypeDefinition } from '../schema/fingerprint.ts'
export type { Kind } from '../schema/kinds.ts'
export { checkLabels, faultOfLabels, SERIES_CHARACTERS_MAX } from '../schema/label-rules.ts'
export { elementsOf, type Layout, type LayoutNode, type Slot } from '../schema/layout.ts'
export { parseDefinition } from '../schema/parse-definition.ts'
export { longestIn, Periods, type PeriodsByType, periodIn, reportMsOf } from '../schema/periods.ts'
export { labelText, msFactorOf } from '../schema/reader.ts'
export { defineOwnType, type Fields, typeOfDefinition, withEntity } from '../schema/record-type.ts'
export { labelOf, labelsOf, mergeLabels, parseSeriesKey, seriesKey } from '../schema/series.ts'
export { SeriesIndex } from '../schema/series-index.ts'
export { type Symbols, SymbolTable } from '../schema/symbols.ts'
export { KeptTexts, TEXT_ID_MIN, TextTable } from '../schema/texts.ts'
export { timeSpanOfBatch } from '../schema/time-span.ts'
export { allocateViews } from '../schema/views.ts'
export { ClientLosses } from '../sink/client-losses.ts'
export { HiddenRecords } from '../sink/hidden-records.ts'
export { LateFailures } from '../sink/late-failures.ts'
export { countsOf, droppedTotal, sinkDropCause } from '../sink/sink.ts'
export { COMMON_KEYS } from '../sinks/common-options.ts'
export {
  checkDestinations,
  type Destination,
  exportEntries,
  hasQueue,
  openDestination,
  usualName,
} from '../sinks/destinations.ts'
export { type Estimate, estimateOf } from '../sinks/estimate.ts'
export type { FilesDurability } from '../sinks/files/config.ts'
export { readSidecar } from '../sinks/files/read-sidecar.ts'
export { type HandOut, handOut } from '../sinks/hand-out.ts'
export {
  canBeSocketsDir,
  commonNotesDir,
  noteName,
  noteText,
  readNotes,
  SOCKET_NAME,
  SOCKETS_DIR_RULE,
  usualSocketsDir,
} from '../sinks/ipc/sockets-dir.ts'
export { parseEndpoint } from '../sinks/prometheus/endpoint.ts'
export { reportLabelFile } from '../sinks/prometheus/health.ts'
export { Quota, type QuotaHolder } from '../sinks/prometheus/quota.ts'
export { readLabelFile } from '../sinks/prometheus/read-label-file.ts'
export { SINKS } from '../sinks/registry.ts'
export { reportSink } from '../sinks/report-sink.ts'
export { Route } from '../sinks/route.ts'
export { applicationLabels, ownLabels } from '../source/application-labels.ts'
export { wallOffsetNs } from '../source/clock.ts'
export { createOwnSource } from '../source/source.ts'
export type { DtbEnd } from '../wire/dtb/decode.ts'
export { type DtbBlockHeader, decodeBlockHeader } from '../wire/dtb/decode-header.ts'
export { unpackPayload } from '../wire/dtb/decode-payload.ts'
export {
  dtbBlockBytes,
  encodeEndBlock,
  encodeFileHeader,
  encodeOriginBlock,
  encodeReservedBlock,
  encodeSourceBlock,
  encodeSymbolsBlock,
  encodeTypesBlock,
  fillRecordsBlock,
  schemaFingerprint,
  sealRecordsBlock,
  typeEntry,
} from '../wire/dtb/encode.ts'
export { BLOCK_HEADER_BYTES, type SourceEntry as RecordsSource } from '../wire/dtb/format.ts'
export { type MadeBlock, type OriginBatch, OriginBlocks } from '../wire/dtb/origin-blocks.ts'
export { clientFrames, type FrameDecoder, serviceFrames } from '../wire/ipc/decode.ts'
export { encodeFrame, writePageHeader } from '../wire/ipc/encode.ts'
export {
  type Attach,
  type ClientFrame,
  type ClientMessage,
  FRAME_HEADER_BYTES,
  type Hello,
  IPC_PROTOCOL,
  PAGE_HEADER_BYTES,
  type Page,
  type ReadPage,
  type ServiceFrame,
  type ServiceLimits,
  type SourceEntry,
  type SymbolsEntry,
  type Untaken,
} from '../wire/ipc/frame.ts'
export type { AddedLabels } from '../wire/prometheus/label-text.ts'
export { acceptsGzip } from '../wire/prometheus/negotiate.ts'
export { ExpositionParser } from '../wire/prometheus/parse.ts'
export { PARSE_LIMITS } from '../wire/prometheus/parse-limits.ts'
export type { ScrapedSeries } from '../wire/prometheus/parse-series.ts'
export { type ProtobufField, readFields } from '../wire/protobuf/reader.ts'
export { boundConnections } from './bound-connections.ts'
export { isCertificateFault } from './certificate-fault.ts'
export { countOf } from './count-of.ts'
export { crc32 } from './crc32.ts'
export { type FileLock, lockFile } from './file-lock.ts'
export { FollowedFile, type FollowedFileOptions } from './followed-file.ts'
export { hasManyHosts, isAskedByForeignPage, isOpenedInTab } from './foreign-page.ts'
export { readGivenFile } from './given-file.ts'
export { allowsHost, hostRule } from './host-rule.ts'
export { isJsonObject, type JsonObject, JsonReader } from './json-reader.ts'
export { checkFoldersNow, makeFolders, makeFoldersNow } from './make-folders.ts'
export { openFilesLimit } from './open-files.ts'
export { PCI_DOMAIN, pciAddressOf } from './pci-address.ts'
export { APP_LABELS, labelSpelling, namespacedName, type PodApp, podAppOf, SERVICE_LABELS } from './pod-app.ts'
export { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE, tightenFolder } from './private-files.ts'
export { readBytesNow } from './read-bytes.ts'
export { keyOfNumber, keyOfText } from './seeded-hash.ts'
export { escapeTurning, printable, shellWord } from './shown-text.ts'
export { sondeCommand } from './sonde-command.ts'
export { spreadsheetText } from './spreadsheet-text.ts'
export { loadSqlite } from './sqlite.ts'
export { startTimeOf } from './start-time.ts'
export { readTextFile, readTextFileNow } from './text-file.ts'
export { processTimers, type Timers } from './timers.ts'
export { codeFault, dataFault, TRUST_VARIABLE } from './trusted-files.ts'
export { turn } from './turn.ts'
export { userConfigDir, userStateDir } from './user-dirs.ts'
export { within } from './within.ts'
