import type { Labels, RecordOf, RecordType } from '@sonde/sdk'
import type { ExplainFailure } from '../attribute-reader.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import type { HostReader, ParseFile } from './reader.ts'

/** A file of procfs that gives one record. */
export interface FileRecord<T extends RecordType> {
  readonly type: T
  /** Names on the path to the file, below procfs. */
  readonly path: readonly string[]
  readonly parse: ParseFile<Partial<RecordOf<T>>>
  /** Default: none. */
  readonly labels?: Labels
  /** Explains a file that could not be read. Default: the words of the failure. */
  readonly explain?: ExplainFailure
}

/** Defines a part that consists of one such file. */
export function filePart<T extends RecordType>(given: FileRecord<T>): HostPartDefinition {
  return { types: [given.type], create: (reader) => partOf(reader, given) }
}

/** Creates a part that reads and reports one such file. */
export function partOf<T extends RecordType>(
  reader: HostReader,
  { type, path, parse, labels, explain }: FileRecord<T>,
): HostPart {
  const file = reader.procfs.file(...path)
  const absences = reader.absences(type, labels)
  return {
    sample(time) {
      const values = absences.settle('', reader.value(file, parse, explain))
      if (values === undefined) return false
      absences.tell(values, `${file.path} does not have it`)
      reader.context.source.report<RecordType>(type, { time, ...labels, ...values } as RecordOf<RecordType>)
      return true
    },
  }
}
