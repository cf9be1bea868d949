import { type Labels, type RecordType, SondeError } from '@sonde/sdk'
import { AttributeReader, type ExplainFailure } from '../attribute-reader.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { parseCpuList, parseLabel } from './parse-sysfs.ts'
import { StatFile } from './stat-file.ts'

/** Parses a file. Returns its content, or the fault as the end of a sentence that starts with the path of the file. */
export type ParseFile<T> = (bytes: Uint8Array) => T | string

/**
 * Reads the files of all parts, and remembers the first failure of a sweep. The sweep throws it if nothing was read.
 */
export class HostReader {
  failure: Error | undefined
  readonly context: SourceContext
  readonly procfs: KernelFiles
  readonly sysfs: KernelFiles
  /** `/proc/stat`, which several parts share. */
  readonly stat: StatFile

  constructor(context: SourceContext) {
    this.context = context
    this.procfs = new KernelFiles(context.paths.procfs, { remembersMissing: true })
    this.sysfs = new KernelFiles(context.paths.sysfs)
    this.stat = new StatFile(this)
  }

  /** Returns the absences of a series; without labels, of every series of the type. */
  absences(type: RecordType, labels?: Labels): FieldAbsences {
    return new FieldAbsences(this.context.absences, type, labels)
  }

  /** Returns a reader for a series in which each field is a file. */
  attributes(type: RecordType, labels?: Labels): AttributeReader {
    return new AttributeReader(this, this.absences(type, labels), ({ error, words }) => {
      this.failure ??= error
      return words
    })
  }

  /** Reads a file that gives several fields. Returns its content, or why it has none. */
  value<T extends object>(
    file: KernelFile,
    parse: ParseFile<T>,
    explain: ExplainFailure = ({ words }) => words,
  ): T | Missing {
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.failure ??= bytes.error
      if (bytes.kind === 'failed') this.failed(file.path, bytes.error)
      return new Missing(bytes.code, explain(bytes, file))
    }
    const parsed = parse(bytes)
    return typeof parsed === 'string' ? this.wrong(file, parsed) : parsed
  }

  /** Reads such a file where the reason of a failure is not reported; undefined if it fails. */
  read<T extends object>(file: KernelFile, parse: ParseFile<T>): T | undefined {
    const found = this.value(file, parse)
    return found instanceof Missing ? undefined : found
  }

  /** Reads a line of text from a file that the kernel lists, and closes it. A missing line is a failed read. */
  text(file: KernelFile): string | undefined {
    const bytes = file.read()
    file.close()
    const line = bytes instanceof ReadFailure ? undefined : parseLabel(bytes)
    if (line === undefined) this.wrong(file, 'gives no name')
    return line
  }

  /** Reads a list of CPUs such as `0-55,112-167` from a file that the kernel lists. A missing list is a failed read. */
  list(file: KernelFile): number[] | undefined {
    const bytes = file.read()
    const list = bytes instanceof ReadFailure ? undefined : parseCpuList(bytes)
    if (list === undefined) this.wrong(file, 'gives no list of CPUs')
    return list
  }

  /** Counts a file with wrong content as a failed read; `what` ends a sentence that starts with its path. */
  wrong(file: KernelFile, what: string): Missing {
    const error = new SondeError('SRC_READ', `${file.path} ${what}`)
    this.failed(file.path, error)
    return new Missing('failed', error.message)
  }

  /** Counts a line that cannot be read and is left out. */
  malformed(file: KernelFile, line: string): void {
    this.wrong(file, `holds a line that cannot be read: ${JSON.stringify(line)}`)
  }

  /** Counts a failed read. */
  failed(place: string, error: Error): void {
    this.failure ??= error
    this.context.failed(place, error)
  }

  close(): void {
    this.procfs.close()
    this.sysfs.close()
  }
}
