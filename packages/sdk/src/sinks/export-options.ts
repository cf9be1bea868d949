import type { CommonOptions } from './common-options.ts'
import type { FilesOptions, filesEntries } from './files/config.ts'
import type { JsonlOptions, jsonlEntries } from './jsonl/config.ts'

type OneOrMany<T> = T | readonly T[]

/** Files of records, with the options of {@link FilesOptions}. */
export type FilesDestination = CommonOptions & Pick<FilesOptions, keyof typeof filesEntries>

/** Records as JSON lines over HTTP, with the options of {@link JsonlOptions}. */
export type JsonlDestination = CommonOptions & Pick<JsonlOptions, keyof typeof jsonlEntries>

/** Destinations by kind, each an object or a list; the same as below `export` in the file of an agent. */
export interface ExportOptions {
  /** Files of records. */
  readonly files?: OneOrMany<FilesDestination>
  /** Records as JSON lines, posted over HTTP. */
  readonly jsonl?: OneOrMany<JsonlDestination>
}
