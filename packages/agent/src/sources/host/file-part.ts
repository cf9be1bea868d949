import type { Labels, RecordOf, RecordType } from '@sonde/sdk'
import type { ExplainFailure } from '../attribute-reader.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import type { HostReader, ParseFile } from './reader.ts'

/** One record that is one file of procfs. */
export interface RecordFile<T extends RecordType> {
  readonly type: T
  /** Names on the way to the file below procfs. */
  readonly path: readonly string[]
  readonly parse: ParseFile<Partial<RecordOf<T>>>
  /** Default: none. */
  readonly labels?: Labels
  /** Words for a file that could not be read. Default: those of the failure. */
  readonly explain?: ExplainFailure
}

/** A part that is one such file. */
export function filePart<T extends RecordType>(given: RecordFile<T>): HostPartDefinition {
  return { types: [given.type], create: (reader) => partOf(reader, given) }
}

/** Reads and reports one such file. */
export function partOf<T extends RecordType>(
  reader: HostReader,
  { type, path, parse, labels, explain }: RecordFile<T>,
): HostPart {
  const file = reader.procfs.file(...path)
  const absences = reader.absences(type, labels)
  return {
    sample(time) {
      const values = absences.settle('', reader.value(file, parse, explain))
      if (values === undefined) return false
      absences.tell(values, `${file.path} does not say`)
      reader.context.source.report<RecordType>(type, { time, ...labels, ...values } as RecordOf<RecordType>)
      return true
    },
  }
}
