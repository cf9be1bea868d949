// `@sonde/sdk/internal`: for the other packages of Sonde. It changes without notice.

import '../engines.ts'

export { batchProjection } from '../fieldset/batch-projection.ts'
export { FollowedSets } from '../fieldset/followed-sets.ts'
export { reportFieldSets } from '../fieldset/health.ts'
export { FIELD_SET_BYTES_LIMIT } from '../fieldset/parse.ts'
export { AnnouncedSource } from '../link/announced-source.ts'
export type { LinkItem, LinkLimits, LinkSource, Refusal, SymbolsItem } from '../link/item.ts'
export { SYMBOLS_OF_SOURCE } from '../link/item.ts'
export { PrefixTexts } from '../link/prefix-texts.ts'
export { LinkReader } from '../link/reader.ts'
export { symbolOffsets } from '../link/symbol-offsets.ts'
export { LinkWriter } from '../link/writer.ts'
export { aggregateSeries, levelsOf } from '../query/aggregate.ts'
export { unitOf } from '../query/answer.ts'
export { askedBy, askerOf } from '../query/asker.ts'
export { UNTOLD_ABSENCE } from '../query/catalogue.ts'
export { refillExpressions } from '../query/expression.ts'
export { queryReader } from '../query/parse.ts'
export { lifeOf, ownerOf } from '../schema/batch.ts'
export { describeType, type TypeDescription } from '../schema/describe-type.ts'
export { checkLabels, faultOfLabels, isOwnLabel, SERIES_CHARACTERS_MAX } from '../schema/label-rules.ts'
export { parseDefinition } from '../schema/parse-definition.ts'
export { labelText } from '../schema/reader.ts'
export { defineOwnType, typeOfDefinition, withEntity } from '../schema/record-type.ts'
export { parseSeriesKey } from '../schema/series.ts'
export { KeptTexts, TEXT_ID_MIN, TextTable, textBytes } from '../schema/texts.ts'
export { timeSpanOfBatch } from '../schema/time-span.ts'
export { ClientLosses } from '../sink/client-losses.ts'
export { HiddenRecords } from '../sink/hidden-records.ts'
export { LateFailures } from '../sink/late-failures.ts'
export { causeOf, countsOf } from '../sink/sink.ts'
export { COMMON_KEYS } from '../sinks/common-options.ts'
export {
  checkDestinations,
  type Destination,
  exportEntries,
  openDestination,
} from '../sinks/destinations.ts'
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
export { type Holder, Quota } from '../sinks/prometheus/quota.ts'
export { readLabelFile } from '../sinks/prometheus/read-label-file.ts'
export type { LabelFileHealth } from '../sinks/prometheus/view-labels.ts'
export { SINKS, type SinkDefinition, type SinkFinding } from '../sinks/registry.ts'
export { Route } from '../sinks/route.ts'
export { applicationLabels, ownLabels } from '../source/application-labels.ts'
export { wallOffsetNs } from '../source/clock.ts'
export { createOwnSource } from '../source/source.ts'
export { decodeBlockHeader } from '../wire/dtb/decode-header.ts'
export { unpackPayload } from '../wire/dtb/decode-payload.ts'
export {
  blockBytes,
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
  type TypeEntry,
  type Untaken,
  type Welcome,
} from '../wire/ipc/frame.ts'
export { type ExpositionFormat, ExpositionParser } from '../wire/prometheus/parse.ts'
export type { ScrapedFamily } from '../wire/prometheus/parse-comment.ts'
export { type FaultyLine, type ParseFault, ParseFaults } from '../wire/prometheus/parse-faults.ts'
export { PARSE_LIMITS, type ParseLimits } from '../wire/prometheus/parse-limits.ts'
export type { ScrapedSeries } from '../wire/prometheus/parse-series.ts'
export { boundConnections } from './bound-connections.ts'
export { countOf } from './count-of.ts'
export { crc32 } from './crc32.ts'
export { type FileLock, lockFile } from './file-lock.ts'
export { hasManyHosts, isAskedByForeignPage, isOpenedInTab } from './foreign-page.ts'
export { readGivenFile } from './given-file.ts'
export { allowsHost, hostRule } from './host-rule.ts'
export { isJsonObject, type JsonObject, JsonReader } from './json-reader.ts'
export { checkFoldersNow, makeFolders, makeFoldersNow } from './make-folders.ts'
export { openFilesLimit } from './open-files.ts'
export { makePrivateFile, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE, tightenFolder } from './private-files.ts'
export { readBytesNow } from './read-bytes.ts'
export { keyOfNumber, keyOfText } from './seeded-hash.ts'
export { escapeTurning, printable, shellWord } from './shown-text.ts'
export { sondeCommand } from './sonde-command.ts'
export { loadSqlite } from './sqlite.ts'
export { startTimeOf } from './start-time.ts'
export { readTextFile, readTextFileNow } from './text-file.ts'
export { codeFault, dataFault, TRUST_VARIABLE } from './trusted-files.ts'
export { turn } from './turn.ts'
export { userConfigDir, userStateDir } from './user-dirs.ts'
export { within } from './within.ts'
